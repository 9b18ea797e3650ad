/** An interactive chat: reads prompts, shows events, asks for permission. */
import { DEFAULT_AGENT_NAME } from '../../chat/agent-file/agent-file.ts'
import { serverLabel } from '../../chat/endpoint/endpoint.ts'
import { hasPrompt } from '../../chat/journal/journal-file.ts'
import type { ChatSession, ChatSessionEvent, OpenedChat } from '../../chat/open/open-chat.ts'
import { sandboxLabel } from '../../chat/processes/sandbox.ts'
import { findLastExchange } from '../../chat/session.ts'
import { formatCost, usedLimits } from '../../chat/spending.ts'
import { suggestRule } from '../../chat/tools/permission/rules.ts'
import { localize, say } from '../language.ts'
import { writeOut } from '../output.ts'
import { isYes, renderTrustQuestion, TRUST_PROMPT } from '../trust-question.ts'
import { paint } from '../view/paint.ts'
import { formatCount, plural } from '../view/table.ts'
import { toTerminalLine, toTerminalText } from '../view/text.ts'
import { renderMarkdownText } from './markdown/markdown-stream.ts'
import { renderCommandOutput } from './output/command-output.ts'
import {
  CONSENT_PROMPT,
  type ConsentQuestion,
  isViewAll,
  parseConsent,
  renderConsentChoices,
  renderQuestion,
  renderUnseenWarning,
} from './output/consent.ts'
import { Screen } from './output/screen.ts'
import { inParentheses, TurnView } from './output/turn-view.ts'
import { editText, runInShell, showInPager } from './programs.ts'
import { openPromptReader, type PromptReader } from './prompt-input.ts'

export async function runInteractive(
  { session: chat, greeting }: OpenedChat,
  first: string | undefined,
): Promise<void> {
  const input = openPromptReader(chat)
  const interactive = new InteractiveChat(chat, input)
  try {
    await interactive.greet(greeting)
    await interactive.run(first)
  } finally {
    await interactive.finish()
    input.close()
  }
}

/** Of a UUID: unique among the conversations of one person, and short enough to copy. */
const ID_PREFIX_LENGTH = 13

class InteractiveChat {
  readonly #chat: ChatSession
  readonly #input: PromptReader
  readonly #screen: Screen
  readonly #view: TurnView
  #hasQuit = false

  constructor(chat: ChatSession, input: PromptReader) {
    this.#chat = chat
    this.#input = input
    this.#screen = new Screen(input.columns, input.isTerminal, input.draftRows)
    input.onDraft(() => this.#screen.redraw())
    this.#view = new TurnView(this.#screen, input.columns, () => chat.setup.reasoning, {
      cost: () => turnCost(chat),
      budget: () => nearestLimit(chat),
    })
  }

  async greet(events: readonly ChatSessionEvent[]): Promise<void> {
    const { server, agent, sandboxing } = this.#chat.setup
    const { endpoint } = this.#chat.commandContext
    const parts = [
      ...(endpoint ? [toTerminalLine(serverLabel(endpoint.endpoint))] : []),
      toTerminalText(server.model),
      toTerminalText(agent.name),
      toTerminalText(localize(sandboxLabel(sandboxing))),
    ]
    const banner = renderCommandOutput(['fumi chat', ...parts].join(' · '), this.#input.columns()).trimEnd()
    await this.#screen.line(paint.dim(banner).replace('fumi chat', paint.bold('fumi chat')))
    await this.#screen.line(
      paint.dim(say('Type /help for commands, /quit to exit.', '/help でコマンドの一覧を表示、/quit で終了します。')),
    )
    for (const event of events) await this.#view.show(event)
    const last = findLastExchange(this.#chat.state)
    if (!last) return
    const historyNote = say(
      `${plural(last.entries, 'exchange')} so far. The last one:`,
      `これまでのやり取り ${formatCount(last.entries)} 件。最後のやり取り：`,
    )
    await this.#screen.line(paint.dim(historyNote))
    await this.#screen.line(`${paint.bold('> ')}${toTerminalText(last.prompt)}`)
    await this.#screen.write(renderMarkdownText(last.answer, this.#input.columns))
  }

  async run(first: string | undefined): Promise<void> {
    let line: string | undefined = first ?? (await this.#readPrompt())
    while (line !== undefined) {
      if (line.trim() !== '') await this.#sendPrompt(line)
      if (this.#hasQuit) return
      line = await this.#readPrompt()
    }
  }

  async finish(): Promise<void> {
    await this.#view.finish()
    const { replay } = this.#chat.writer.journal
    if (!this.#input.isTerminal || !hasPrompt(replay)) return
    const command = `fumi chat --resume ${replay.state.conversation_id.slice(0, ID_PREFIX_LENGTH)}`
    await this.#screen.line(paint.dim(say(`To continue: ${command}`, `続けるには：${command}`)))
  }

  #readPrompt(): Promise<string | undefined> {
    return this.#input.prompt(promptPrefix(this.#chat))
  }

  async #sendPrompt(line: string): Promise<void> {
    if (this.#input.isTerminal && (await this.#runLocally(line))) return
    let editedPrompt: string | undefined
    this.#view.begin(line)
    for await (const event of this.#chat.send(line)) {
      if (event.kind === 'quit') this.#hasQuit = true
      else if (event.kind === 'clipboard') await this.#copy(event.text)
      else if (event.kind === 'edit' && event.text.startsWith('/') && this.#input.isTerminal)
        this.#input.prefill(event.text)
      else if (event.kind === 'edit') editedPrompt = this.#input.releaseFor(() => editText(event.text))
      else if (event.kind === 'consent_needed')
        await this.#askConsent(event.id, { name: event.name, need: event.local.need })
      else if (event.kind === 'trust_needed') await this.#askTrust(event)
      else {
        if (event.kind === 'ended' && event.how !== 'answered' && event.how !== 'interrupted') this.#input.holdQueue()
        await this.#view.show(event)
      }
    }
    await this.#view.finish()
    if (editedPrompt !== undefined && editedPrompt.trim() !== '') {
      await this.#screen.line(`${paint.bold('> ')}${toTerminalText(editedPrompt)}`)
      await this.#sendPrompt(editedPrompt)
    }
  }

  /** With the terminal's own sequence (OSC 52), which also works over SSH. */
  async #copy(text: string): Promise<void> {
    if (this.#input.isTerminal) await writeOut(`\u001b]52;c;${Buffer.from(text).toString('base64')}\u0007`)
  }

  /** Runs commands that need the complete screen. Returns false for any other line, which goes to the session. */
  async #runLocally(line: string): Promise<boolean> {
    const { writer: journalWriter, state, setup } = this.#chat
    const command = /^!\s*(\S[\s\S]*)$/.exec(line)?.[1]
    if (command !== undefined) {
      journalWriter.transcribe(line)
      const shellStatus = this.#input.releaseFor(() => runInShell(command, setup.workspace.cwd))
      if (shellStatus !== undefined) await this.#screen.line(paint.dim(inParentheses(shellStatus)))
      return true
    }
    if (line.trim() !== '/transcript' || state.transcript.length === 0) return false
    const text = `${state.transcript.toArray().map(toTerminalText).join('\n')}\n`
    return this.#input.releaseFor(() => showInPager(text))
  }

  async #askTrust({ id, trust }: Extract<ChatSessionEvent, { kind: 'trust_needed' }>): Promise<void> {
    await this.#view.finish()
    await this.#screen.write(renderTrustQuestion(trust))
    this.#chat.answer(id, isYes(await this.#input.answer(TRUST_PROMPT)) ? 'yes' : 'no')
  }

  async #askConsent(id: string, question: ConsentQuestion): Promise<void> {
    await this.#view.pause(id)
    const screen = { columns: this.#input.columns(), rows: this.#input.rows() }
    const { text, isCut, isUnseen } = renderQuestion(question, screen)
    let isSeen = !isUnseen
    const rule = id === 'prompt' || id === 'commit' ? undefined : suggestRule(question.need)
    await this.#screen.line(text + renderConsentChoices(question.name, isCut, screen.columns, rule))
    for (;;) {
      const answer = await this.#input.answer(CONSENT_PROMPT)
      if (answer !== undefined && /^\/(?:quit|q|exit)\s*$/.test(answer)) this.#hasQuit = true
      if (answer === undefined || this.#hasQuit) return this.#chat.interrupt()
      if (/^\/[a-z]+(?:\s|$)/.test(answer)) {
        await this.#screen.line(paint.dim(say('  answer this question first', '  先にこの質問に答えてください')))
        continue
      }
      if (!isViewAll(answer) || !isCut) {
        const consent = parseConsent(answer, rule !== undefined)
        if (isSeen || consent === 'no' || typeof consent === 'object') return this.#chat.answer(id, consent)
        await this.#screen.line(renderUnseenWarning())
        continue
      }
      isSeen = true
      const fullText = renderQuestion(question, screen, true).text
      if (!this.#input.isTerminal || !this.#input.releaseFor(() => showInPager(fullText)))
        await this.#screen.write(fullText)
    }
  }
}

// The prompt's prefix: the agent, how full the context window is, and how long the tangent has been open.

/** At this percentage the chat suggests a summary. */
const NEARLY_FULL_PERCENT = 75
const MIN_SHOWN_PERCENT = 5

function promptPrefix(chat: ChatSession): string {
  const { name } = chat.setup.agent
  const tangent = chat.tangent()
  const percent = chat.windowPercent()
  return [
    ...(name === DEFAULT_AGENT_NAME ? [] : [paint.cyan(`[${toTerminalText(name)}]`)]),
    ...(chat.setup.isPlanning ? [paint.yellow(say('[plan]', '[計画]'))] : []),
    ...(percent >= MIN_SHOWN_PERCENT
      ? [(percent >= NEARLY_FULL_PERCENT ? paint.yellow : paint.dim)(`${percent} %`)]
      : []),
    ...(tangent
      ? [paint.yellow(`↯ ${toTerminalText(tangent.name ?? say('tangent', '脇道'))} ${formatElapsed(tangent.seconds)}`)]
      : []),
    paint.bold('> '),
  ].join(' ')
}

function formatElapsed(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  if (minutes === 0) return say(`${seconds} s`, `${seconds} 秒`)
  if (minutes < 60) return say(`${minutes} min`, `${minutes} 分`)
  const hours = Math.floor(minutes / 60)
  return say(`${hours} h ${minutes % 60} min`, `${hours} 時間 ${minutes % 60} 分`)
}

/** Undefined where nothing has a price. */
function turnCost({ setup: { spending } }: ChatSession): string | undefined {
  const { usd, unpriced_tokens } = spending.turn.cost
  if (!spending.isPriced || usd === 0) return undefined
  return `${spending.turn.isEstimated || unpriced_tokens > 0 ? '~' : ''}${formatCost(usd)}`
}

/** From this share of a limit, the status line shows it. */
const SHOWN_SHARE = 0.5

function nearestLimit({ setup: { spending, settings } }: ChatSession): string | undefined {
  const nearest = [...usedLimits(spending, settings.limits)].sort((a, b) => b.share - a.share)[0]
  return nearest && nearest.share >= SHOWN_SHARE ? localize(nearest.label) : undefined
}
