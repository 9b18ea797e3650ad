/** Converts the lines of a tree to branches of a conversation. */
import { fieldsOf, listOf, nonEmptyStringOf } from '../../../lib/unknown-values.ts'
import type { FileBranch, FileMessage } from '../file-conversation.ts'

/** @param messagesOf messages of a node; may be empty */
export function toFileBranches<T extends TreeNode>(
  nodes: readonly T[],
  current: string | undefined,
  messagesOf: (node: T) => readonly FileMessage[],
): readonly [FileBranch, ...FileBranch[]] {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const last = new Map<string, FileBranch['after']>()
  const branches: FileBranch[] = []
  for (const line of splitTreeIntoLines(nodes, current)) {
    const after = line.after === undefined ? undefined : last.get(line.after)
    const messages: FileMessage[] = []
    for (const id of line.ids) {
      const node = byId.get(id)
      if (node) messages.push(...messagesOf(node))
      last.set(id, messages.length > 0 ? { branch: branches.length, message: messages.length - 1 } : after)
    }
    if (branches.length === 0) branches.push({ messages })
    else if (messages.length > 0) branches.push(sideBranch(line.ids[0] ?? '', messages, after))
  }
  const [main = { messages: [] }, ...others] = branches
  return [withResults(main, []), ...others.map((branch) => withResults(branch, branches))]
}

const sideBranch = (name: string, messages: readonly FileMessage[], after: FileBranch['after']): FileBranch => ({
  name,
  messages,
  label: { text: name, from: 0 },
  after,
})

/** A result without a call id answers the nearest earlier call. */
function withResults(branch: FileBranch, others: readonly FileBranch[]): FileBranch {
  let nearest = callBefore(branch, others)
  const messages = branch.messages.map((message) => {
    const call = nonEmptyStringOf(fieldsOf(listOf(message['tool_calls'])[0])?.['id'])
    if (call !== undefined) nearest = call
    const isBare = message['role'] === 'tool' && message['tool_call_id'] === undefined
    return isBare && nearest !== undefined ? { ...message, tool_call_id: nearest } : message
  })
  return { ...branch, messages }
}

/** The last call on the line from which a branch departs. */
function callBefore({ after }: FileBranch, branches: readonly FileBranch[]): string | undefined {
  for (let from = after; from; from = branches[from.branch]?.after) {
    const { messages = [] } = branches[from.branch] ?? {}
    for (let at = from.message; at >= 0; at--) {
      const call = nonEmptyStringOf(fieldsOf(listOf(messages[at]?.['tool_calls'])[0])?.['id'])
      if (call !== undefined) return call
    }
  }
  return undefined
}

/** Splits a tree of messages into lines: the last one displayed, and the branches. */

interface TreeNode {
  readonly id: string
  readonly parent: string | undefined
  /** Creation time. Identifies the newest node if nothing else does. */
  readonly time: number
}

interface TreeLine {
  /** Oldest first. */
  readonly ids: readonly string[]
  /** The node of an earlier line after which it begins; undefined for a root. */
  readonly after: string | undefined
}

/** Every node is on exactly one line. The main line is first; it ends at `current`, or at the newest leaf. */
function splitTreeIntoLines(nodes: readonly TreeNode[], current: string | undefined): readonly TreeLine[] {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const children = groupByParent(nodes, byId)
  const taken = new Set<string>()
  const lines: TreeLine[] = []
  /** Adds branches of the lines from this one on, recursively. */
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
  // Further roots, and nodes with a missing parent.
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

/** Stops at a cycle. */
function pathTo(end: string, byId: ReadonlyMap<string, TreeNode>, taken: Set<string>): readonly string[] {
  const path: string[] = []
  for (let id: string | undefined = end; id !== undefined && !taken.has(id); id = byId.get(id)?.parent) {
    if (!byId.has(id)) break
    taken.add(id)
    path.push(id)
  }
  return path.reverse()
}

/** Continues with the last child, which is the newest. */
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
