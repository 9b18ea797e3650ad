/** What agents are called. Asked for once. */
import type { AgentsReply } from '../../model/api/machine.ts'
import { get } from './client.ts'

let labels = $state.raw<ReadonlyMap<string, string>>()
let isAsked = false

/** Its id until the label is known. */
export function labelOf(agent: string): string {
  if (!isAsked) void ask()
  return labels?.get(agent) ?? agent
}

async function ask(): Promise<void> {
  isAsked = true
  const answer = await get<AgentsReply>('/agents')
  if (answer.kind === 'reply') labels = new Map(answer.reply.data.map(({ id, label }) => [id, label]))
}
