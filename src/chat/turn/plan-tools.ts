/** Decides what becomes of the tools that an answer asks for, and asks a person where that is needed. */
import type { AssistantToolUse } from '../../conversation/message.ts'
import { asIs, type Phrase, phrase } from '../../model/phrase.ts'
import { forbidden } from '../tools/permission.ts'
import { type ChatTool, failed, type ToolCall } from '../tools/tool.ts'
import type { AskedTool, Consent, TalkEvent } from './event.ts'
import type { Gear } from './gear.ts'
import type { Planned } from './run-tools.ts'
import { unreadableArguments } from './tool-uses.ts'

export type Plan =
  | { readonly kind: 'go'; readonly planned: readonly Planned[] }
  /** None of them runs; the model is told this as what the user said, in English unless a person said it. */
  | { readonly kind: 'cancel'; readonly prompt: Phrase }
  /** Somebody would have to be asked, and nobody is there. */
  | { readonly kind: 'unattended'; readonly asked: AskedTool }
  | { readonly kind: 'aborted' }

/** What the model is told when a person says no. */
export const DENIED = phrase(
  'I do not want this tool to run. Ask me how to go on, or find another way.',
  'このツールは実行しないでください。続け方を尋ねるか、別の方法を探してください。',
)

/** Answers a question, or nothing when the turn was aborted meanwhile. */
export type AskConsent = (asked: AskedTool, signal: AbortSignal) => Promise<Consent | undefined>

/** One after the other, all before the first one runs: one no is a no to all of them, as in the original. */
export async function* planTools(
  uses: readonly AssistantToolUse[],
  gear: Gear,
  ask: AskConsent,
  signal: AbortSignal,
): AsyncGenerator<TalkEvent, Plan> {
  const planned: Planned[] = []
  for (const use of uses) {
    if (signal.aborted) return { kind: 'aborted' }
    const looked = await lookAt(use, gear)
    if ('known' in looked) {
      planned.push({ kind: 'known', use, ran: failed(looked.known) })
      continue
    }
    const { tool, call } = looked
    const asked: AskedTool = { id: use.id, name: use.name, need: call.need }
    yield { kind: 'tool_asked', ...asked }
    const decision = gear.shelf.decide(tool, call.need)
    if (decision.kind === 'deny') return { kind: 'cancel', prompt: forbidden(use.name) }
    if (decision.kind === 'error') {
      planned.push({ kind: 'known', use, ran: failed(decision.text) })
      continue
    }
    if (decision.kind === 'allow') {
      planned.push({ kind: 'run', use, tool, call, free: true, staleAllowed: false })
      continue
    }
    if (!gear.settings.attended) return { kind: 'unattended', asked }
    yield { kind: 'consent_needed', ...asked }
    const consent = await ask(asked, signal)
    if (consent === undefined) return { kind: 'aborted' }
    if (consent === 'no') return { kind: 'cancel', prompt: DENIED }
    if (typeof consent === 'object') return { kind: 'cancel', prompt: asIs(consent.text) }
    if (consent === 'trust') gear.shelf.trust(tool)
    planned.push({ kind: 'run', use, tool, call, free: consent === 'trust', staleAllowed: true })
  }
  return { kind: 'go', planned }
}

type Looked = { readonly tool: ChatTool; readonly call: ToolCall } | { readonly known: string }

async function lookAt(use: AssistantToolUse, { shelf }: Gear): Promise<Looked> {
  const unreadable = unreadableArguments(use)
  if (unreadable !== undefined) return { known: unreadable }
  const tool = shelf.find(use.name)
  if (!tool) return { known: `There is no tool ${use.name}. The tools are: ${shelf.names().join(', ') || 'none'}.` }
  const checked = await tool.check(use.args, shelf.place)
  return checked.ok ? { tool, call: checked.call } : { known: checked.error }
}
