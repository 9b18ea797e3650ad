/** Takes a tree of messages apart into lines: the one that was read last, and the branches that were left. */

export interface Node {
  readonly id: string
  readonly parent: string | undefined
  /** When it was written; tells the youngest where nothing else does. */
  readonly time: number
}

export interface Line {
  /** In order, from the oldest. */
  readonly ids: readonly string[]
  /** The node that it follows, on a line before it; nothing for a line that begins at a root. */
  readonly after: string | undefined
}

/** Every node is on just one line. The main line comes first; it ends at `current`, else at the youngest leaf. */
export function linesOf(nodes: readonly Node[], current: string | undefined): readonly Line[] {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const children = childrenOf(nodes, byId)
  const taken = new Set<string>()
  const lines: Line[] = []
  /** Lets the lines from this one on branch, and their branches too. */
  const grow = (from: number): void => {
    for (let at = from; at < lines.length; at++) {
      for (const id of lines[at]?.ids ?? []) {
        for (const child of children.get(id) ?? [])
          if (!taken.has(child)) lines.push(lineFrom(child, id, children, taken))
      }
    }
  }
  const end = current !== undefined && byId.has(current) ? current : youngestLeaf(nodes, children)
  if (end !== undefined) lines.push({ ids: pathTo(end, byId, taken), after: undefined })
  grow(0)
  // Other roots, and nodes whose parent is not in the file.
  for (const { id } of nodes) {
    if (taken.has(id)) continue
    lines.push(lineFrom(id, undefined, children, taken))
    grow(lines.length - 1)
  }
  return lines
}

function childrenOf(nodes: readonly Node[], byId: ReadonlyMap<string, Node>): ReadonlyMap<string, readonly string[]> {
  const children = new Map<string, string[]>()
  for (const { id, parent } of nodes) {
    if (parent === undefined || !byId.has(parent)) continue
    const sisters = children.get(parent)
    if (sisters) sisters.push(id)
    else children.set(parent, [id])
  }
  return children
}

function youngestLeaf(nodes: readonly Node[], children: ReadonlyMap<string, readonly string[]>): string | undefined {
  let youngest: Node | undefined
  for (const node of nodes) if (!children.has(node.id) && node.time >= (youngest?.time ?? 0)) youngest = node
  return (youngest ?? nodes.at(-1))?.id
}

/** A circle ends where it began. */
function pathTo(end: string, byId: ReadonlyMap<string, Node>, taken: Set<string>): readonly string[] {
  const path: string[] = []
  for (let id: string | undefined = end; id !== undefined && !taken.has(id); id = byId.get(id)?.parent) {
    if (!byId.has(id)) break
    taken.add(id)
    path.push(id)
  }
  return path.reverse()
}

/** Goes on with the last child, which is the newest. */
function lineFrom(
  first: string,
  after: string | undefined,
  children: ReadonlyMap<string, readonly string[]>,
  taken: Set<string>,
): Line {
  const ids: string[] = []
  for (
    let id: string | undefined = first;
    id !== undefined;
    id = children.get(id)?.findLast((one) => !taken.has(one))
  ) {
    taken.add(id)
    ids.push(id)
  }
  return { ids, after }
}
