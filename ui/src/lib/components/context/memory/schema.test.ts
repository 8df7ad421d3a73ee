import { describe, expect, it } from 'vitest';
import { fieldsOf, freshField, objectProblem, schemaOf, schemaProblem } from './schema';

const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    destination: { type: 'string', description: 'Where to', minLength: 2 },
    date: { type: 'string', format: 'date' },
    travellers: { type: 'number', minimum: 1 },
    pets: { type: 'boolean' },
    class: { type: 'string', enum: ['first', 'second'] },
    stops: { type: 'array', items: { type: 'string' } },
    seats: { type: 'array', items: { type: 'object' } },
    nights: { type: ['integer', 'null'] },
  },
  required: ['destination', 'date'],
  additionalProperties: false,
};

describe('a schema in the form', () => {
  it('comes back as it was, with what the form cannot say', () => {
    const fields = fieldsOf(SCHEMA);
    expect(fields.map((field) => field.type)).toEqual([
      ...['text', 'date', 'number', 'yesNo', 'choice', 'list', 'other', 'other'],
    ]);
    expect(schemaOf(fields, SCHEMA)).toEqual(SCHEMA);
  });

  it('takes changes of a field and leaves the others', () => {
    const [first, ...others] = fieldsOf(SCHEMA);
    if (!first) throw new Error('no field');
    const renamed = { ...first, name: 'goal', required: false, description: ' ' };
    const made = schemaOf([renamed, ...others], SCHEMA);
    expect(made.required).toEqual(['date']);
    expect(Object.keys(made.properties as object)[0]).toBe('goal');
    expect((made.properties as Record<string, object>).goal).toEqual({
      type: 'string',
      minLength: 2,
    });
  });

  it('begins a field under a free name', () => {
    const fields = fieldsOf({ properties: { field2: { type: 'string' } } });
    expect(freshField(fields).name).toBe('field3');
    expect(schemaProblem(JSON.stringify(schemaOf([freshField([])], {})))).toBeNull();
  });
});

describe('a schema as text', () => {
  it('is taken where it is one', () => {
    expect(schemaProblem(JSON.stringify(SCHEMA))).toBeNull();
    expect(schemaProblem('{"properties":{}}')).toBeNull();
  });

  it.each([
    ['{', 'no JSON'],
    ['[]', 'in braces'],
    ['{"type":"array","properties":{}}', 'properties'],
    ['{"type":"object"}', 'properties'],
    ['{"properties":{"a":{}},"required":"a"}', 'list'],
    ['{"properties":{"a":{}},"required":["b"]}', '“b”'],
    ['{"properties":{"a":[]}}', '“a”'],
    ['{"properties":{"a":{"type":"text"}}}', '“text”'],
    ['{"properties":{"a b":{"type":"string"}}}', 'letters'],
    ['{"properties":{"a":{"type":"string","enum":["one"]}}}', 'two'],
  ])('is refused as %s', (text, word) => {
    expect(schemaProblem(text)).toContain(word);
  });

  it('of a plug-in is any object', () => {
    expect(objectProblem('{"anything":[1]}')).toBeNull();
    expect(objectProblem('null')).not.toBeNull();
  });
});
