import type { Definition, Nodes, Parents, Root } from 'mdast';

/** Turns references to link definitions into links, so that rendering needs no second place. */
export function resolveReferences(root: Root): Root {
  const definitions = new Map<string, Definition>();
  collect(root, definitions);
  if (definitions.size > 0) replace(root, definitions);
  return root;
}

function collect(node: Nodes, definitions: Map<string, Definition>): void {
  if (node.type === 'definition' && !definitions.has(node.identifier)) {
    definitions.set(node.identifier, node);
  }
  if ('children' in node) for (const child of node.children) collect(child, definitions);
}

function replace(parent: Parents, definitions: Map<string, Definition>): void {
  const children = parent.children as Nodes[];
  for (const [index, child] of children.entries()) {
    if (child.type === 'linkReference' || child.type === 'imageReference') {
      const url = definitions.get(child.identifier)?.url ?? '';
      children[index] =
        child.type === 'linkReference'
          ? { type: 'link', url, children: child.children }
          : { type: 'image', url, alt: child.alt };
    }
    const now = children[index];
    if (now && 'children' in now) replace(now, definitions);
  }
}
