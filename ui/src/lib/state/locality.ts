/**
 * Whether a model's name says that Ollama hands its requests on to a cloud (`gpt-oss:120b-cloud`). The
 * core goes by the same names; here they are asked about before such a model is chosen.
 */
export function runsInCloud(model: string): boolean {
  const parts = model.trim().toLowerCase().split(':');
  const tag = parts.length > 1 ? (parts.at(-1) ?? '') : '';
  return tag === 'cloud' || tag.endsWith('-cloud');
}
