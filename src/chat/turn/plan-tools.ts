/** Decides what becomes of the tools that an answer asks for, and asks a person where that is needed. */
import type { AssistantToolUse } from '../../conversation/message.ts'
import { type Phrase, phrase, untranslated } from '../../model/phrase.ts'
import { forbiddenToolText } from '../tools/permission/permission.ts'
import { type ChatTool, type ChatToolCall, errorResult } from '../tools/tool.ts'
import type { ChatSessionEvent, ToolConsent, ToolQuestion } from './chat-session-event.ts'
import type { PlannedTool } from './run-tools.ts'
import { findUnreadableArguments } from './tool-uses.ts'
import type { TurnSetup } from './turn-setup.ts'

export type ToolPlan =
  | { readonly kind: 'go'; readonly planned: readonly PlannedTool[] }
  /** None of them runs; the model is told this as what the user said, in English unless a person said it. */
  | { readonly kind: 'cancel'; readonly prompt: Phrase }
  /** Somebody would have to be asked, and nobody is there. */
  | { readonly kind: 'unattended'; readonly asked: ToolQuestion }
  | { readonly kind: 'aborted' }

/** What the model is told when a person says no. */
export const DENIED_BY_USER = phrase(
  'I do not want this tool to run. Ask me how to go on, or find another way.',
  'このツールは実行しないでください。続け方を尋ねるか、別の方法を探してください。',
)

/** Answers a question, or nothing when the turn was aborted meanwhile. */
export type AskConsent = (question: ToolQuestion, signal: AbortSignal) => Promise<ToolConsent | undefined>

/** One after the other, all before the first one runs: one no is a no to all of them, as in the original. */
export async function* planTools(
  uses: readonly AssistantToolUse[],
  setup: TurnSetup,
  ask: AskConsent,
  signal: AbortSignal,
): AsyncGenerator<ChatSessionEvent, ToolPlan> {
  const planned: PlannedTool[] = []
  for (const use of uses) {
    if (signal.aborted) return { kind: 'aborted' }
    const lookup = await lookUpTool(use, setup)
    if ('known' in lookup) {
      planned.push({ kind: 'known', use, ran: errorResult(lookup.known) })
      continue
    }
    const { tool, call } = lookup
    const question: ToolQuestion = { id: use.id, name: use.name, need: call.need }
    yield { kind: 'tool_asked', ...question }
    const decision = setup.tools.decide(tool, call.need)
    if (decision.kind === 'deny') return { kind: 'cancel', prompt: forbiddenToolText(use.name) }
    if (decision.kind === 'error') {
      planned.push({ kind: 'known', use, ran: errorResult(decision.text) })
      continue
    }
    if (decision.kind === 'allow') {
      planned.push({ kind: 'run', use, tool, call, free: true, staleAllowed: false })
      continue
    }
    if (!setup.settings.attended) return { kind: 'unattended', asked: question }
    yield { kind: 'consent_needed', ...question }
    const consent = await ask(question, signal)
    if (consent === undefined) return { kind: 'aborted' }
    if (consent === 'no') return { kind: 'cancel', prompt: DENIED_BY_USER }
    if (typeof consent === 'object') return { kind: 'cancel', prompt: untranslated(consent.text) }
    if (consent === 'trust') setup.tools.trust(tool)
    planned.push({ kind: 'run', use, tool, call, free: consent === 'trust', staleAllowed: true })
  }
  return { kind: 'go', planned }
}

type LookupResult = { readonly tool: ChatTool; readonly call: ChatToolCall } | { readonly known: string }

async function lookUpTool(use: AssistantToolUse, { tools }: TurnSetup): Promise<LookupResult> {
  const unreadable = findUnreadableArguments(use)
  if (unreadable !== undefined) return { known: unreadable }
  const tool = tools.find(use.name)
  if (!tool) return { known: `There is no tool ${use.name}. The tools are: ${tools.names().join(', ') || 'none'}.` }
  const checked = await tool.check(use.args, tools.workspace)
  return checked.ok ? { tool, call: checked.call } : { known: checked.error }
}
