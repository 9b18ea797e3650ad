/** Lines of a tree as branches of a conversation. */
import { fieldsOf, listOf, wordOf } from '../../../lib/object.ts'
import type { Branch, ChatMessage } from '../conversation.ts'
import { linesOf, type Node } from './tree.ts'

/** @param messagesOf what a node says: nothing, one message or several */
export function branchesOf<T extends Node>(
  nodes: readonly T[],
  current: string | undefined,
  messagesOf: (node: T) => readonly ChatMessage[],
): readonly [Branch, ...Branch[]] {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const last = new Map<string, Branch['after']>()
  const branches: Branch[] = []
  for (const line of linesOf(nodes, current)) {
    const after = line.after === undefined ? undefined : last.get(line.after)
    const messages: ChatMessage[] = []
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

const sideBranch = (name: string, messages: readonly ChatMessage[], after: Branch['after']): Branch => ({
  name,
  messages,
  label: { text: name, from: 0 },
  after,
})

/** A result without the id of its call answers the nearest call before it. */
function withResults(branch: Branch, others: readonly Branch[]): Branch {
  let nearest = callBefore(branch, others)
  const messages = branch.messages.map((message) => {
    const call = wordOf(fieldsOf(listOf(message['tool_calls'])[0])?.['id'])
    if (call !== undefined) nearest = call
    const isBare = message['role'] === 'tool' && message['tool_call_id'] === undefined
    return isBare && nearest !== undefined ? { ...message, tool_call_id: nearest } : message
  })
  return { ...branch, messages }
}

/** The last call on the line that a branch leaves. */
function callBefore({ after }: Branch, branches: readonly Branch[]): string | undefined {
  for (let from = after; from; from = branches[from.branch]?.after) {
    const { messages = [] } = branches[from.branch] ?? {}
    for (let at = from.message; at >= 0; at--) {
      const call = wordOf(fieldsOf(listOf(messages[at]?.['tool_calls'])[0])?.['id'])
      if (call !== undefined) return call
    }
  }
  return undefined
}
