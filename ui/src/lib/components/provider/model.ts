/** A model's name as people read it: without the folders and the ending of its file. */
export function modelTitle(name: string): string {
  const file = name.split(/[\\/]/).at(-1) ?? name;
  return file.endsWith('.gguf') ? file.slice(0, -'.gguf'.length) : name;
}
