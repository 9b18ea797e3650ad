/** Conversations for the tests: real structures, if available, and generated ones. */
import { rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Agent, WrittenForm } from '../../src/agents/agent.ts'
import { allAgents } from '../../src/agents/load-agents.ts'
import { logsAt } from '../../src/normalize.ts'
import type { Matrix } from './matrix.ts'
import { type Conversation, roundTrip } from './round-trip.ts'

export interface NamedConversation extends Conversation {
  readonly name: string
}

/**
 * @param most limit of sessions per file, and of files per agent
 * @param maxBytes larger files are left out
 */
export async function* conversationsIn(
  folder: string,
  most: number,
  maxBytes = Number.POSITIVE_INFINITY,
): AsyncGenerator<NamedConversation> {
  const counts = new Map<string, number>()
  for await (const { agent, source, unknown } of logsAt(folder)) {
    if (unknown || (counts.get(source.agent) ?? 0) >= most || statSync(source.path).size > maxBytes) continue
    let taken = 0
    const seen = new Set<string>()
    for await (const batch of agent.read(source))
      for (const one of batch) {
        if (one.kind !== 'session' || one.session.kind !== 'conversation' || seen.has(one.session.id)) continue
        seen.add(one.session.id)
        if (++taken > most) continue
        const name = `${relative(folder, source.path)} ${one.session.id}`
        yield { agent, source, session: one.session.id, name }
      }
    if (taken > 0) counts.set(source.agent, (counts.get(source.agent) ?? 0) + 1)
  }
}

export async function formsOf(): Promise<readonly { readonly agent: Agent; readonly form: WrittenForm }[]> {
  return (await allAgents()).flatMap((agent) => (agent.forms ?? []).map((form) => ({ agent, form })))
}

/** Tries every form of every agent. */
export async function tryAll(conversation: NamedConversation, folder: string, matrix: Matrix): Promise<void> {
  const { forms = [], formOf } = conversation.agent
  const own = formOf?.(conversation.source)
  const home = forms.find(({ name }) => name === own) ?? forms[0]
  for (const { agent, form } of await formsOf()) {
    const verdict = await roundTrip(conversation, agent, form, home, folder)
    matrix.add(conversation.source.agent, form.name, conversation.name, verdict)
  }
}

/** A generated log as a conversation of its agent. */
export async function conversationOf(
  text: string,
  suffix: string,
  folder: string,
): Promise<NamedConversation | undefined> {
  const path = join(folder, `generated${suffix}`)
  rmSync(path, { force: true })
  writeFileSync(path, text)
  for await (const one of conversationsIn(path, 1)) return one
  return undefined
}
