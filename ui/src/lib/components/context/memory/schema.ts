import { t, type MessageKey } from '$lib/i18n';

/** What a value can be, as the form offers it; `other` is what only JSON can say. */
export type FieldType = 'text' | 'number' | 'yesNo' | 'date' | 'choice' | 'list' | 'other';

export const FIELD_TYPES: [Exclude<FieldType, 'other'>, MessageKey][] = [
  ['text', 'schema.type.text'],
  ['number', 'schema.type.number'],
  ['yesNo', 'schema.type.yesNo'],
  ['date', 'schema.type.date'],
  ['choice', 'schema.type.choice'],
  ['list', 'schema.type.list'],
];

/** A value to be taken from what the user says. */
export interface SchemaField {
  name: string;
  type: FieldType;
  description: string;
  required: boolean;
  /** What can be chosen between. */
  options: string[];
  /** The rest of its JSON, which the form leaves as it is. */
  rest: Record<string, unknown>;
}

type Json = Record<string, unknown>;

const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

/** The type the form shows for a property, and the keys of its JSON that say so. */
function typeOf(property: Json): [FieldType, string[]] {
  const { type, format, enum: options, items } = property;
  if (isTexts(options) && (type === 'string' || type === undefined))
    return ['choice', ['type', 'enum']];
  if (options !== undefined) return ['other', []];
  if (type === 'string' && format === 'date') return ['date', ['type', 'format']];
  if (type === 'string') return ['text', ['type']];
  if (type === 'number') return ['number', ['type']];
  if (type === 'boolean') return ['yesNo', ['type']];
  const plain = isObject(items) && items.type === 'string' && Object.keys(items).length === 1;
  if (type === 'array' && plain) return ['list', ['type', 'items']];
  return ['other', []];
}

/** The fields of a schema. */
export function fieldsOf(schema: unknown): SchemaField[] {
  if (!isObject(schema) || !isObject(schema.properties)) return [];
  const required = isTexts(schema.required) ? schema.required : [];
  return Object.entries(schema.properties).map(([name, json]) => {
    const property = isObject(json) ? json : {};
    const [type, keys] = typeOf(property);
    const known = [...keys, 'description'];
    const rest = Object.entries(property).filter(([key]) => !known.includes(key));
    return {
      name,
      type,
      description: typeof property.description === 'string' ? property.description : '',
      required: required.includes(name),
      options: type === 'choice' && isTexts(property.enum) ? property.enum : [],
      rest: Object.fromEntries(rest),
    };
  });
}

const SHAPES: Record<FieldType, (field: SchemaField) => Json> = {
  text: () => ({ type: 'string' }),
  number: () => ({ type: 'number' }),
  yesNo: () => ({ type: 'boolean' }),
  date: () => ({ type: 'string', format: 'date' }),
  choice: ({ options }) => ({ type: 'string', enum: options }),
  list: () => ({ type: 'array', items: { type: 'string' } }),
  other: () => ({}),
};

/** A schema with these fields in place of its own; the rest of it stays. */
export function schemaOf(fields: SchemaField[], base: unknown): Json {
  const { properties: _, required: __, ...rest } = isObject(base) ? base : {};
  const property = (field: SchemaField): Json => ({
    ...SHAPES[field.type](field),
    ...(field.description.trim() === '' ? {} : { description: field.description.trim() }),
    ...field.rest,
  });
  const required = fields.filter((field) => field.required).map((field) => field.name);
  return {
    ...rest,
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.name, property(field)])),
    ...(required.length > 0 ? { required } : {}),
  };
}

/** A field to begin with, under a name that is free. */
export function freshField(fields: SchemaField[]): SchemaField {
  const names = fields.map((field) => field.name);
  let count = fields.length + 1;
  while (names.includes(`field${count}`)) count += 1;
  const blank = { description: '', required: false, options: [], rest: {} };
  return { name: `field${count}`, type: 'text', ...blank };
}

/** What is wrong with the name of one field among all. */
export function nameProblem(field: SchemaField, all: SchemaField[]): string | null {
  if (!/^[\p{L}_][\p{L}\p{N}_]{0,63}$/u.test(field.name)) return t('schema.name.wrong');
  const twice = all.filter((one) => one.name === field.name).length > 1;
  return twice ? t('schema.name.twice') : null;
}

/** What is wrong with what can be chosen between. */
export function optionsProblem({ type, options }: SchemaField): string | null {
  const real = options.filter((one) => one.trim() !== '');
  return type === 'choice' && real.length < 2 ? t('schema.options.few') : null;
}

/** What is wrong with a text that is to be a JSON object. */
export function objectProblem(text: string): string | null {
  try {
    return isObject(JSON.parse(text)) ? null : t('json.object');
  } catch (thrown) {
    return t('json.invalid', { where: thrown instanceof Error ? thrown.message : '' });
  }
}

/** What is wrong with a text that is to be a JSON Schema of an object. */
export function schemaProblem(text: string): string | null {
  const wrong = objectProblem(text);
  if (wrong !== null) return wrong;
  const schema = JSON.parse(text) as Json;
  const { type, properties, required } = schema;
  if ((type !== undefined && type !== 'object') || !isObject(properties)) return t('schema.object');
  if (required !== undefined && !isTexts(required)) return t('schema.required.wrong');
  const unknown = (isTexts(required) ? required : []).find((name) => !(name in properties));
  if (unknown !== undefined) return t('schema.required.unknown', { name: unknown });
  for (const [name, property] of Object.entries(properties)) {
    if (!isObject(property)) return t('schema.property.wrong', { name });
    const kinds = [property.type ?? []].flat();
    const strange = kinds.find((kind) => !TYPES.includes(String(kind)));
    if (strange !== undefined) return t('schema.type.unknown', { name, type: String(strange) });
  }
  const wrongField = fieldsOf(schema).map(
    (field, _, all) => nameProblem(field, all) ?? optionsProblem(field),
  );
  return wrongField.find((one) => one !== null) ?? null;
}
