/** Lines of a tree as branches of a conversation. */
import { fieldsOf, listOf, nonEmptyStringOf } from '../../../lib/object.ts'
import type { FileBranch, FileMessage } from '../conversation.ts'
import { splitTreeIntoLines, type TreeNode } from './tree.ts'

/** @param messagesOf what a node says: nothing, one message or several */
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

/** A result without the id of its call answers the nearest call before it. */
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

/** The last call on the line that a branch leaves. */
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
