/** The conversations that are open here, by their ids. One that rests for a while is closed, so that others can have it. */

import { realpathSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import type { Entry, House } from '../../app.ts'
import { copyOf, directoryOf, journalNamed } from '../../chat/open/find-journal.ts'
import { realOf } from '../../chat/tools/files/paths.ts'
import { TrustNeeded } from '../../chat/trust/needed.ts'
import { projectFile } from '../../chat/trust/project-file.ts'
import { Trust } from '../../chat/trust/store.ts'
import { warningFor } from '../../chat/trust/wide.ts'
import { type Household, openConversation } from '../../chat.ts'
import { readConfig } from '../../config.ts'
import { handOver } from '../../convert.ts'
import { isFolder } from '../../lib/files/look.ts'
import { warn } from '../../lib/log.ts'
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
import { ApiProblem } from '../problem.ts'
import { HeldTalk } from './held-talk.ts'

export interface TalksOptions {
  readonly version: string
  /** Where the server was started. */
  readonly cwd?: string
  /** Milliseconds that a conversation stays open when nobody listens and nothing runs. */
  readonly linger?: number
}

const LINGER = 60_000
const MOST_OPEN = 50

export class Talks {
  readonly #house: House
  readonly #options: TalksOptions
  readonly #open = new Map<string, HeldTalk>()
  readonly #opening = new Map<string, Promise<HeldTalk>>()
  /** By what was asked for: who asks twice at once gets one copy. */
  readonly #copying = new Map<string, Promise<string>>()
  readonly #timers = new Map<string, NodeJS.Timeout>()

  constructor(house: House, options: TalksOptions) {
    this.#house = house
    this.#options = options
  }

  /** Where a conversation is held unless another place is chosen. */
  get cwd(): string {
    return realpathSync(this.#options.cwd ?? process.cwd())
  }

  /** Settings are read anew: a profile that was just made can be used. */
  household(): Household {
    const { environment } = this.#house
    return { environment, config: readConfig(environment, { agents: [] }) }
  }

  /** Directories of the archive and of earlier chats that are there, that of the server first. */
  directories(): readonly ChatDirectory[] {
    const { cwd } = this
    const chosen = this.trust.directories()
    const counts = new Map(this.#house.index.choices().projects.map(({ value, count }) => [value, count]))
    const others = [...new Set([...counts.keys(), ...chosen])].filter((path) => path !== cwd && isFolder(path))
    return [cwd, ...others].map((path) => {
      const real = realOf(path)
      return {
        path,
        sessions: counts.get(path) ?? 0,
        chosen: chosen.includes(real),
        warning: this.#warning(real) ?? null,
      }
    })
  }

  /** What the user has decided. */
  get trust(): Trust {
    return new Trust(this.#house.directory)
  }

  #warning(path: string): ChatDirectoryWarning | undefined {
    const { environment, directory } = this.#house
    return warningFor(path, { home: environment.home, data: directory })
  }

  /** Trusts a project's file in the version that the user has seen, and in no other. */
  trustFile({ path, sha256, prompt_sha256 }: ChatTrustBody): { readonly path: string } {
    const { trust } = this
    const file = projectFile(path, this.cwd, trust)
    if (!file.ok) throw new ApiProblem('not_possible', file.reason)
    if (!this.directories().some((one) => realOf(one.path) === file.project)) throw noDirectory()
    const { fingerprint, question } = file
    if (fingerprint.sha256 !== sha256 || fingerprint.prompt_sha256 !== prompt_sha256)
      throw new ApiProblem('trust_needed', CHANGED, { trust: question })
    trust.add(fingerprint)
    return { path: fingerprint.path }
  }

  get(id: string): HeldTalk {
    const held = this.#open.get(id)
    if (!held || held.isClosed)
      throw new ApiProblem(
        'not_found',
        phrase(
          `The conversation ${id} is not open here. Open it with POST /api/chat.`,
          `会話 ${id} はここで開かれていません。もう一度開いてください（POST /api/chat）。`,
        ),
      )
    return held
  }

  async open(body: ChatBody): Promise<HeldTalk> {
    const { session } = body
    if (session === undefined) return this.#begin(body, this.#chosen(body.directory ?? this.cwd, body), undefined)
    const id = await this.#ownId(session, body)
    const held = this.#open.get(id)
    if (held && !held.isClosed) return held
    await held?.close()
    const opening = this.#opening.get(id) ?? this.#begin(body, this.#placeOf(id, body), id)
    this.#opening.set(id, opening)
    try {
      return await opening
    } finally {
      this.#opening.delete(id)
    }
  }

  async close(): Promise<void> {
    for (const timer of this.#timers.values()) clearTimeout(timer)
    await Promise.all(Array.from(this.#open.values(), (held) => held.close()))
    this.#open.clear()
  }

  async #begin(body: ChatBody, cwd: string, resume: string | undefined): Promise<HeldTalk> {
    if (this.#open.size >= MOST_OPEN)
      throw new ApiProblem(
        'conversation_busy',
        phrase(
          `${MOST_OPEN} conversations are open here. Close one of their pages.`,
          `すでに ${MOST_OPEN} 件の会話が開かれています。どれかのページを閉じてください。`,
        ),
      )
    const { profile, model, agent } = body
    const opened = await openConversation(
      {
        cwd,
        program: this.#options.version,
        attended: true,
        ...(profile !== undefined && { profile }),
        ...(model !== undefined && { model }),
        ...(agent !== undefined && { agent }),
        ...(resume !== undefined && { resume }),
      },
      this.household(),
    ).catch(explained)
    const id = opened.talk.state.conversation_id
    const held = await HeldTalk.of(opened, () => this.#rest(id)).catch(async (error: unknown) => {
      await opened.close()
      throw error
    })
    this.#open.set(id, held)
    this.#rest(id)
    return held
  }

  /** Counts anew from when somebody went, or something ended. */
  #rest(id: string): void {
    clearTimeout(this.#timers.get(id))
    const held = this.#open.get(id)
    if (!held) return
    if (held.isClosed) this.#leave(id, held)
    else if (held.isResting) {
      const timer = setTimeout(() => this.#leave(id, held), this.#options.linger ?? LINGER)
      timer.unref()
      this.#timers.set(id, timer)
    }
  }

  /** It stays among the open ones until its journal is free. */
  #leave(id: string, held: HeldTalk): void {
    if (!held.isClosed && !held.isResting) return
    const forget = (): void => {
      if (this.#open.get(id) === held) this.#open.delete(id)
    }
    held.close().then(forget, (error: unknown) => {
      warn(String(error))
      forget()
    })
  }

  /**
   * A directory that the user chose: one that the server itself offers, no path of a client's making. One that is too wide
   * has to be confirmed. @param also one more that is offered: what a journal or a log suggests
   */
  #chosen(directory: string, { confirmed = false }: ChatBody, also?: string): string {
    const isOffered = directory === also || this.directories().some(({ path }) => path === directory)
    if (!isOffered || !isFolder(directory)) throw noDirectory()
    const real = realpathSync(directory)
    const { trust } = this
    const isKnown = trust.directories().includes(real)
    if (!isKnown && !confirmed && this.#warning(real)) throw this.#needed(directory, 'request')
    trust.addDirectory(real)
    return real
  }

  /** The user has to say where: what a log or a journal says is a suggestion and nothing more. */
  #needed(suggestion: string | null, from: ChatDirectoryNeeded['from']): ApiProblem {
    const usable = suggestion !== null && isAbsolute(suggestion) && isFolder(suggestion)
    const warning = usable ? (this.#warning(realpathSync(suggestion)) ?? null) : null
    const needed: ChatDirectoryNeeded = { suggestion, usable, warning, from }
    return new ApiProblem('directory_needed', DIRECTORY_NEEDED, { ...needed })
  }

  /** Where the user held this chat, by our own memory: its journal is a file that may have come from elsewhere. */
  #placeOf(id: string, body: ChatBody): string {
    const { trust } = this
    const written = directoryOf(this.#house.directory, id)
    if (body.directory !== undefined) {
      const chosen = this.#chosen(body.directory, body, written ?? undefined)
      this.#remember(id, chosen)
      return chosen
    }
    const place = trust.directoryOf(id) ?? written
    if (place === null) return this.#chosen(this.cwd, body)
    const real = isAbsolute(place) && isFolder(place) ? realpathSync(place) : undefined
    if (real !== undefined && trust.directories().includes(real)) return real
    if (real === this.cwd) return this.#chosen(real, body)
    throw this.#needed(place, 'journal')
  }

  #remember(id: string, chosen: string): void {
    if (directoryOf(this.#house.directory, id) !== chosen) this.trust.setDirectoryOf(id, chosen)
  }

  /** Ours is gone on with, and so is the copy that was made of another; else one is made. */
  async #ownId(session: string, body: ChatBody): Promise<string> {
    const { directory } = this.#house
    const own = /^(?:fumibako:)?([\da-f-]{36})$/i.exec(session)?.[1]
    if (own !== undefined && directoryOf(directory, own) !== null) return journalNamed(directory, own)
    const entry = this.#house.session(session as SessionId)
    if (!entry)
      throw new ApiProblem(
        'session_not_found',
        phrase(`There is no session ${session}.`, `会話 ${session} はありません。`),
      )
    const before = copyOf(directory, entry.id)
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

  async #copy(entry: Entry, body: ChatBody): Promise<string> {
    const { environment, directory, keep } = this.#house
    const log = await this.#house.logOf(entry.id)
    if (!log)
      throw new ApiProblem(
        'source_gone',
        phrase(
          `The log of ${entry.id} is gone: ${entry.path}.`,
          `会話 ${entry.id} のログ ${entry.path} がなくなっています。`,
        ),
      )
    const its = this.#house.index.header(entry.id)?.cwd
    if (body.directory === undefined) throw this.#needed(its ?? null, 'log')
    const cwd = this.#chosen(body.directory, body, its !== undefined && isAbsolute(its) ? its : undefined)
    const from = { agent: log.agent, source: log.source, session: entry.id }
    const done = await handOver(from, 'fumibako', { environment, directory, keep, cwd }).catch(explained)
    this.#remember(done.session.native_id, cwd)
    return done.session.native_id
  }
}

const noDirectory = (): ApiProblem =>
  new ApiProblem(
    'not_possible',
    phrase(
      'A conversation is held in a directory that GET /api/chat/options names.',
      '会話のディレクトリーは、GET /api/chat/options にあるものから選んでください。',
    ),
  )

const DIRECTORY_NEEDED = phrase(
  'Choose the directory of this chat, or confirm the suggested one: files below it are read without asking.',
  'この会話のディレクトリーを選ぶか、候補を確認してください。その下のファイルは確認なしに読み取られます。',
)

const CHANGED = phrase(
  'The file has changed since it was shown. Review it again.',
  '表示した後にファイルが変更されました。もう一度確認してください。',
)

function explained(error: unknown): never {
  if (!(error instanceof AppError)) throw error
  if (error instanceof TrustNeeded) throw new ApiProblem('trust_needed', error.phrase, { trust: error.question })
  if (error.code === 'busy') throw new ApiProblem('conversation_busy', error.phrase)
  throw new ApiProblem('not_possible', error.phrase)
}
