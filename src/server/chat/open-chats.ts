/** The open chats by id. Idle chats are closed, so that other processes can open them. */
import { realpathSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import type { App, SessionEntry } from '../../app.ts'
import { findCopy, findJournal, journalDirectory } from '../../chat/journal/find-journal.ts'
import { type ChatConfig, openChatWithConfig } from '../../chat/open/open-chat.ts'
import { resolveRealPath } from '../../chat/tools/files/tool-paths.ts'
import { readProjectFile, TrustNeededError } from '../../chat/trust/trust-question.ts'
import { directoryWarning, TrustStore } from '../../chat/trust/trust-store.ts'
import { readConfig } from '../../config/config.ts'
import { handOver } from '../../convert.ts'
import { isFolder } from '../../lib/files/safe-fs.ts'
import { warn } from '../../lib/logger.ts'
import type {
  ChatBody,
  ChatDirectory,
  ChatDirectoryNeeded,
  ChatDirectoryWarning,
  ChatTrustBody,
} from '../../model/api/chat.ts'
import { AppError } from '../../model/error.ts'
import type { SessionId } from '../../model/ids.ts'
import { phrase } from '../../model/phrase.ts'
import { ApiProblem } from '../api-problem.ts'
import { OpenChat } from './open-chat.ts'

export interface OpenChatsOptions {
  readonly version: string
  readonly cwd?: string
  /** Milliseconds until a chat without clients and without a running turn is closed. */
  readonly linger?: number
}

const IDLE_CLOSE_MS = 60_000
const MAX_OPEN_CHATS = 50

export class OpenChats {
  readonly #app: App
  readonly #options: OpenChatsOptions
  readonly #open = new Map<string, OpenChat>()
  readonly #opening = new Map<string, Promise<OpenChat>>()
  /** By request, so that two simultaneous requests share one copy. */
  readonly #copying = new Map<string, Promise<string>>()
  readonly #timers = new Map<string, NodeJS.Timeout>()

  constructor(app: App, options: OpenChatsOptions) {
    this.#app = app
    this.#options = options
  }

  get cwd(): string {
    return realpathSync(this.#options.cwd ?? process.cwd())
  }

  /** Reads the settings again, so that a new profile can be used. */
  readChatConfig(): ChatConfig {
    const { environment } = this.#app
    return { environment, config: readConfig(environment, { agents: [] }) }
  }

  /** Existing directories of the index and of earlier chats, the server's own first. */
  directories(): readonly ChatDirectory[] {
    const { cwd } = this
    const chosen = this.trust.directories()
    const counts = new Map(this.#app.index.choices().projects.map(({ value, count }) => [value, count]))
    const others = [...new Set([...counts.keys(), ...chosen])].filter((path) => path !== cwd && isFolder(path))
    return [cwd, ...others].map((path) => {
      const real = resolveRealPath(path)
      return {
        path,
        sessions: counts.get(path) ?? 0,
        chosen: chosen.includes(real),
        warning: this.#warning(real) ?? null,
      }
    })
  }

  get trust(): TrustStore {
    return new TrustStore(this.#app.directory)
  }

  #warning(path: string): ChatDirectoryWarning | undefined {
    const { environment, directory } = this.#app
    return directoryWarning(path, { home: environment.home, data: directory })
  }

  /** Trusts a project's file only in the version that the user has seen. */
  trustFile({ path, sha256, prompt_sha256 }: ChatTrustBody): { readonly path: string } {
    const { trust } = this
    const file = readProjectFile(path, this.cwd, trust)
    if (!file.ok) throw new ApiProblem('not_possible', file.reason)
    if (!this.directories().some((one) => resolveRealPath(one.path) === file.project)) throw unknownDirectory()
    const { fingerprint, question } = file
    if (fingerprint.sha256 !== sha256 || fingerprint.prompt_sha256 !== prompt_sha256)
      throw new ApiProblem('trust_needed', FILE_CHANGED, { trust: question })
    trust.add(fingerprint)
    return { path: fingerprint.path }
  }

  get(id: string): OpenChat {
    const chat = this.#open.get(id)
    if (!chat || chat.isClosed)
      throw new ApiProblem(
        'not_found',
        phrase(
          `Chat ${id} is not open. Open it with POST /api/chat.`,
          `会話 ${id} は開かれていません。POST /api/chat で開いてください。`,
        ),
      )
    return chat
  }

  async open(body: ChatBody): Promise<OpenChat> {
    const { session } = body
    if (session === undefined)
      return this.#start(body, this.#checkDirectory(body.directory ?? this.cwd, body), undefined)
    const id = await this.#resolveId(session, body)
    const chat = this.#open.get(id)
    if (chat && !chat.isClosed) return chat
    await chat?.close()
    const opening = this.#opening.get(id) ?? this.#start(body, this.#directoryOf(id, body), id)
    this.#opening.set(id, opening)
    try {
      return await opening
    } finally {
      this.#opening.delete(id)
    }
  }

  async close(): Promise<void> {
    for (const timer of this.#timers.values()) clearTimeout(timer)
    await Promise.all(Array.from(this.#open.values(), (chat) => chat.close()))
    this.#open.clear()
  }

  async #start(body: ChatBody, cwd: string, resume: string | undefined): Promise<OpenChat> {
    if (this.#open.size >= MAX_OPEN_CHATS)
      throw new ApiProblem(
        'conversation_busy',
        phrase(
          `${MAX_OPEN_CHATS} chats are open, which is the limit. Close the page of one of them.`,
          `開いている会話が上限の ${MAX_OPEN_CHATS} 件に達しました。どれかのページを閉じてください。`,
        ),
      )
    const { profile, model, agent } = body
    const opened = await openChatWithConfig(
      {
        cwd,
        program: this.#options.version,
        attended: true,
        ...(profile !== undefined && { profile }),
        ...(model !== undefined && { model }),
        ...(agent !== undefined && { agent }),
        ...(resume !== undefined && { resume }),
      },
      this.readChatConfig(),
    ).catch(throwApiProblem)
    const id = opened.session.state.conversation_id
    const chat = await OpenChat.of(opened, () => this.#scheduleClose(id)).catch(async (error: unknown) => {
      await opened.close()
      throw error
    })
    this.#open.set(id, chat)
    this.#scheduleClose(id)
    return chat
  }

  /** Restarts the idle timer when a client disconnects or a turn ends. */
  #scheduleClose(id: string): void {
    clearTimeout(this.#timers.get(id))
    const chat = this.#open.get(id)
    if (!chat) return
    if (chat.isClosed) this.#closeIdle(id, chat)
    else if (chat.isIdle) {
      const timer = setTimeout(() => this.#closeIdle(id, chat), this.#options.linger ?? IDLE_CLOSE_MS)
      timer.unref()
      this.#timers.set(id, timer)
    }
  }

  /** Stays listed until its journal is free. */
  #closeIdle(id: string, chat: OpenChat): void {
    if (!chat.isClosed && !chat.isIdle) return
    const forget = (): void => {
      if (this.#open.get(id) === chat) this.#open.delete(id)
    }
    chat.close().then(forget, (error: unknown) => {
      warn(String(error))
      forget()
    })
  }

  /**
   * Checks the directory that the user chose: it must be one that the server offered. One that is too wide
   * has to be confirmed. @param one more offered directory: the suggestion of a journal or log
   */
  #checkDirectory(directory: string, { confirmed = false }: ChatBody, also?: string): string {
    const isOffered = directory === also || this.directories().some(({ path }) => path === directory)
    if (!isOffered || !isFolder(directory)) throw unknownDirectory()
    const real = realpathSync(directory)
    const { trust } = this
    const isKnown = trust.directories().includes(real)
    if (!isKnown && !confirmed && this.#warning(real)) throw this.#directoryNeeded(directory, 'request')
    trust.addDirectory(real)
    return real
  }

  /** The user must choose: a directory from a log or journal is only a suggestion. */
  #directoryNeeded(suggestion: string | null, from: ChatDirectoryNeeded['from']): ApiProblem {
    const usable = suggestion !== null && isAbsolute(suggestion) && isFolder(suggestion)
    const warning = usable ? (this.#warning(realpathSync(suggestion)) ?? null) : null
    const needed: ChatDirectoryNeeded = { suggestion, usable, warning, from }
    return new ApiProblem('directory_needed', DIRECTORY_NEEDED, { ...needed })
  }

  /** From our own records: the journal may come from elsewhere. */
  #directoryOf(id: string, body: ChatBody): string {
    const { trust } = this
    const written = journalDirectory(this.#app.directory, id)
    if (body.directory !== undefined) {
      const chosen = this.#checkDirectory(body.directory, body, written ?? undefined)
      this.#remember(id, chosen)
      return chosen
    }
    const chatDirectory = trust.directoryOf(id) ?? written
    if (chatDirectory === null) return this.#checkDirectory(this.cwd, body)
    const real = isAbsolute(chatDirectory) && isFolder(chatDirectory) ? realpathSync(chatDirectory) : undefined
    if (real !== undefined && trust.directories().includes(real)) return real
    if (real === this.cwd) return this.#checkDirectory(real, body)
    throw this.#directoryNeeded(chatDirectory, 'journal')
  }

  #remember(id: string, chosen: string): void {
    if (journalDirectory(this.#app.directory, id) !== chosen) this.trust.setDirectoryOf(id, chosen)
  }

  /** Own conversations and existing copies continue; anything else is copied first. */
  async #resolveId(session: string, body: ChatBody): Promise<string> {
    const { directory } = this.#app
    const own = /^(?:fumibako:)?([\da-f-]{36})$/i.exec(session)?.[1]
    // A chat without prompts has no journal.
    if (own !== undefined && this.#open.get(own)?.isClosed === false) return own
    if (own !== undefined && journalDirectory(directory, own) !== null) return findJournal(directory, own)
    const entry = this.#app.session(session as SessionId)
    if (!entry)
      throw new ApiProblem(
        'session_not_found',
        phrase(`Session ${session} not found.`, `会話 ${session} が見つかりません。`),
      )
    const before = findCopy(directory, entry.id)
    if (before !== undefined) return before
    const key = JSON.stringify([entry.id, body.directory])
    const copying = this.#copying.get(key) ?? this.#copy(entry, body)
    this.#copying.set(key, copying)
    try {
      return await copying
    } finally {
      this.#copying.delete(key)
    }
  }

  async #copy(entry: SessionEntry, body: ChatBody): Promise<string> {
    const { environment, directory, backup } = this.#app
    const log = await this.#app.logOf(entry.id)
    if (!log)
      throw new ApiProblem(
        'source_gone',
        phrase(
          `The log of ${entry.id} is gone: ${entry.path}.`,
          `会話 ${entry.id} のログ ${entry.path} がなくなっています。`,
        ),
      )
    const loggedDirectory = this.#app.index.header(entry.id)?.cwd
    if (body.directory === undefined) throw this.#directoryNeeded(loggedDirectory ?? null, 'log')
    const cwd = this.#checkDirectory(
      body.directory,
      body,
      loggedDirectory !== undefined && isAbsolute(loggedDirectory) ? loggedDirectory : undefined,
    )
    const from = { agent: log.agent, source: log.source, session: entry.id }
    const done = await handOver(from, 'fumibako', { environment, directory, keep: backup, cwd }).catch(throwApiProblem)
    this.#remember(done.session.native_id, cwd)
    return done.session.native_id
  }
}

const unknownDirectory = (): ApiProblem =>
  new ApiProblem(
    'not_possible',
    phrase(
      'Unknown directory. Choose one that GET /api/chat/options lists.',
      '選択肢にないディレクトリーです。GET /api/chat/options にあるものから選んでください。',
    ),
  )

const DIRECTORY_NEEDED = phrase(
  'Choose the directory of this chat, or confirm the suggested one. The chat reads files below it without asking.',
  'この会話のディレクトリーを選ぶか、候補を確認してください。その下のファイルは確認なしに読み取られます。',
)

const FILE_CHANGED = phrase(
  'The file has changed since it was shown. Review it again.',
  '表示した後にファイルが変更されました。もう一度確認してください。',
)

function throwApiProblem(error: unknown): never {
  if (!(error instanceof AppError)) throw error
  if (error instanceof TrustNeededError) throw new ApiProblem('trust_needed', error.phrase, { trust: error.question })
  if (error.code === 'busy') throw new ApiProblem('conversation_busy', error.phrase)
  throw new ApiProblem('not_possible', error.phrase)
}
