/** Takes a tree of messages apart into lines: the one that was read last, and the branches that were left. */

export interface TreeNode {
  readonly id: string
  readonly parent: string | undefined
  /** When it was written; tells the youngest where nothing else does. */
  readonly time: number
}

export interface TreeLine {
  /** In order, from the oldest. */
  readonly ids: readonly string[]
  /** The node that it follows, on a line before it; nothing for a line that begins at a root. */
  readonly after: string | undefined
}

/** Every node is on just one line. The main line comes first; it ends at `current`, else at the youngest leaf. */
export function splitTreeIntoLines(nodes: readonly TreeNode[], current: string | undefined): readonly TreeLine[] {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const children = groupByParent(nodes, byId)
  const taken = new Set<string>()
  const lines: TreeLine[] = []
  /** Lets the lines from this one on branch, and their branches too. */
  const addBranches = (from: number): void => {
    for (let at = from; at < lines.length; at++) {
      for (const id of lines[at]?.ids ?? []) {
        for (const child of children.get(id) ?? [])
          if (!taken.has(child)) lines.push(lineFrom(child, id, children, taken))
      }
    }
  }
  const end = current !== undefined && byId.has(current) ? current : findYoungestLeaf(nodes, children)
  if (end !== undefined) lines.push({ ids: pathTo(end, byId, taken), after: undefined })
  addBranches(0)
  // Other roots, and nodes whose parent is not in the file.
  for (const { id } of nodes) {
    if (taken.has(id)) continue
    lines.push(lineFrom(id, undefined, children, taken))
    addBranches(lines.length - 1)
  }
  return lines
}

function groupByParent(
  nodes: readonly TreeNode[],
  byId: ReadonlyMap<string, TreeNode>,
): ReadonlyMap<string, readonly string[]> {
  const children = new Map<string, string[]>()
  for (const { id, parent } of nodes) {
    if (parent === undefined || !byId.has(parent)) continue
    const siblings = children.get(parent)
    if (siblings) siblings.push(id)
    else children.set(parent, [id])
  }
  return children
}

function findYoungestLeaf(
  nodes: readonly TreeNode[],
  children: ReadonlyMap<string, readonly string[]>,
): string | undefined {
  let youngest: TreeNode | undefined
  for (const node of nodes) if (!children.has(node.id) && node.time >= (youngest?.time ?? 0)) youngest = node
  return (youngest ?? nodes.at(-1))?.id
}

/** A circle ends where it began. */
function pathTo(end: string, byId: ReadonlyMap<string, TreeNode>, taken: Set<string>): readonly string[] {
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
): TreeLine {
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
