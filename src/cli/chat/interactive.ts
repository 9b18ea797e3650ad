/** An interactive chat: reads prompts, shows events, asks for permission. */
import { DEFAULT_AGENT_NAME } from '../../chat/agent-file/agent-file.ts'
import { serverLabel } from '../../chat/endpoint/endpoint.ts'
import type { ChatSession, ChatSessionEvent, OpenedChat } from '../../chat/open/open-chat.ts'
import { sandboxLabel } from '../../chat/processes/sandbox.ts'
import { findLastExchange } from '../../chat/session.ts'
import { localize, say } from '../language.ts'
import { isYes, renderTrustQuestion, TRUST_PROMPT } from '../trust-question.ts'
import { paint } from '../view/paint.ts'
import { formatCount, plural } from '../view/table.ts'
import { toTerminalLine, toTerminalText } from '../view/text.ts'
import { renderMarkdownText } from './markdown/markdown-stream.ts'
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

class InteractiveChat {
  readonly #chat: ChatSession
  readonly #input: PromptReader
  readonly #screen: Screen
  readonly #view: TurnView
  #hasQuit = false

  constructor(chat: ChatSession, input: PromptReader) {
    this.#chat = chat
    this.#input = input
    this.#screen = new Screen(input.columns, input.isTerminal)
    this.#view = new TurnView(this.#screen, input.columns)
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
    await this.#screen.line(`${paint.bold('fumi chat')} ${paint.dim(parts.map((part) => `· ${part}`).join(' '))}`)
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

  finish(): Promise<void> {
    return this.#view.finish()
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
      else if (event.kind === 'edit') editedPrompt = this.#input.releaseFor(() => editText(event.text))
      else if (event.kind === 'consent_needed')
        await this.#askConsent(event.id, { name: event.name, need: event.local.need })
      else if (event.kind === 'trust_needed') await this.#askTrust(event)
      else await this.#view.show(event)
    }
    await this.#view.finish()
    if (editedPrompt !== undefined && editedPrompt.trim() !== '') {
      await this.#screen.line(`${paint.bold('> ')}${toTerminalText(editedPrompt)}`)
      await this.#sendPrompt(editedPrompt)
    }
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
    await this.#screen.line(text + renderConsentChoices(question.name, isCut, screen.columns))
    for (;;) {
      const answer = await this.#input.answer(CONSENT_PROMPT)
      if (answer !== undefined && /^\/(?:quit|q|exit)\s*$/.test(answer)) this.#hasQuit = true
      if (answer === undefined || this.#hasQuit) return this.#chat.interrupt()
      if (/^\/[a-z]+(?:\s|$)/.test(answer)) {
        await this.#screen.line(paint.dim(say('  answer this question first', '  先にこの質問に答えてください')))
        continue
      }
      if (!isViewAll(answer) || !isCut) {
        const consent = parseConsent(answer)
        if (isSeen || (consent !== 'yes' && consent !== 'trust')) return this.#chat.answer(id, consent)
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
