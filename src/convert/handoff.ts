/** Hands a conversation to another agent: writes it to the agent's store, reads it back and compares. */
import { closeSync, createReadStream, existsSync, openSync, realpathSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type {
  Agent,
  Delivery,
  DeliveryBackup,
  DeliveryWarning,
  HostEnvironment,
  ResumeCommand,
  Source,
} from '../agents/agent.ts'
import { agentIdsOf, agentServing } from '../agents/agent-roots.ts'
import type { BackupDatabase } from '../backup/backup-database.ts'
import { copyFileAtomically, copyToBackupFile, writeBackupFile } from '../lib/files/atomic-file.ts'
import { isFolder } from '../lib/files/safe-fs.ts'
import { createTempFolder } from '../lib/files/temp-files.ts'
import { toPrintableField } from '../lib/text.ts'
import type { CheckFinding } from '../model/check-finding.ts'
import { AppError } from '../model/error.ts'
import { type AgentId, type Instant, instantFromMs } from '../model/ids.ts'
import type { NormalizedMessage } from '../model/normalized.ts'
import { type Phrase, phrase } from '../model/phrase.ts'
import type { Session } from '../model/session.ts'
import { type AllowedChanges, type Exchange, findDifference, readExchanges } from './compare.ts'
import { type Conversion, type ConversionSource, convert, readSessionFacts, readSourceMessages } from './convert.ts'
import type { Report } from './loss-report.ts'
import { findRowSidecar, rowSidecarPath, SIDECAR_END, SIDECAR_START, sidecarLine, sidecarOf } from './sidecar.ts'
import { type Cut, shortenConversation } from './trim.ts'

export interface HandoffOptions {
  readonly agents: readonly Agent[]
  readonly environment: HostEnvironment
  /** Our data directory: for backups, and for what the target cannot hold. */
  readonly directory: string
  readonly keep: BackupDatabase
  /** Where to continue; by default the session's own directory. */
  readonly cwd?: string
  /** Allows replacing an older conversation, which is backed up first. */
  readonly mayReplace?: boolean
  /** Does everything except writing into the store. */
  readonly isDry?: boolean
  readonly now: () => Date
  readonly newId: () => string
  /** Called before the conversation is installed, with what its program would reject or misread. */
  readonly onRejected?: (warnings: readonly DeliveryWarning[]) => void | Promise<void>
  /** Fits a smaller context window: keeps complete turns from the end and summarizes the others. */
  readonly maxTokens?: number
}

export interface HandedOver {
  readonly session: Session
  readonly source: Source
  readonly cwd: string
  readonly isDry: boolean
  readonly isReplacement: boolean
  /** The backup of the replaced conversation. */
  readonly backup: string | undefined
  readonly resume: ResumeCommand | undefined
  readonly exchanges: number
  readonly cut: Cut | undefined
  readonly report: Report
  readonly repairs: readonly string[]
  readonly warnings: readonly DeliveryWarning[]
}

export const handoffTargets = (agents: readonly Agent[]): readonly AgentId[] =>
  agents.filter((agent) => agent.write && agent.deliver).flatMap(agentIdsOf)

/** Throws AppError with the store unchanged. */
export async function handoff(from: ConversionSource, to: AgentId, options: HandoffOptions): Promise<HandedOver> {
  const { agents } = options
  const targets = handoffTargets(agents)
  if (!targets.includes(to))
    throw new AppError(
      'bad_usage',
      `Cannot hand over to "${to}". Available: ${targets.join(', ')}.`,
      `「${to}」には引き継げません。使えるのは ${targets.join('、')} です。`,
    )
  const agent = agentServing(to, agents)
  const folder = createTempFolder('handoff')
  try {
    return await runHandoff(from, agent, to, folder.path, options)
  } finally {
    folder.remove()
  }
}

async function runHandoff(
  original: ConversionSource,
  agent: Agent,
  to: AgentId,
  folder: string,
  options: HandoffOptions,
): Promise<HandedOver> {
  const { session, facts } = await readSessionFacts(original)
  const fullSource: ConversionSource = {
    ...original,
    session: session.id,
    ...findRowSidecar(original, session, options.directory),
  }
  const open = (): AsyncIterable<NormalizedMessage> => readSourceMessages(fullSource, session)
  const trimmed = options.maxTokens === undefined ? undefined : await shortenConversation(open, options.maxTokens)
  const from: ConversionSource = trimmed ? { ...fullSource, beside: trimmed.open } : fullSource
  const cwd = resolveDirectory(options.cwd ?? session.cwd)
  const { now, newId, isDry = false } = options
  const modelProvider = agent.modelProvider?.(options.environment)
  const writing = { cwd, now, newId, isStandalone: true, ...(modelProvider !== undefined && { modelProvider }) }
  const form = agent.deliveredForm?.(to, options.environment) ?? to
  const conversion = await convert(from, { agent, form }, { ...writing, hasSidecar: true })
  const saved = await saveToFolder(folder, suffixOf(agent, form), conversion)
  const report = conversion.report()
  const source = (): AsyncGenerator<Exchange> => readExchanges(readSourceMessages(from, session), facts)
  const { exchanges, lastAt } = await measureSource(readSourceMessages(from, session), source())
  await verifyTarget(source(), { agent, source: { agent: to, path: saved.path } }, report, UNCHANGED)
  const rejected = await findRejected(agent, form, saved.path)
  if (rejected.length > 0) await options.onRejected?.(rejected)
  const backups = new HandoffBackups(options)
  const delivery = await deliverTo(agent, to, saved, { ...options, cwd, lastAt, session, backups })
  const target: ConversionSource = { agent, source: isDry ? { agent: to, path: saved.path } : delivery.source }
  const placed = await finishDelivery(target, delivery, saved, source, report, { ...options, backups })
  return {
    session: placed,
    source: delivery.source,
    cwd,
    isDry,
    isReplacement: delivery.isReplacement,
    backup: backups.path,
    resume: agent.resume?.({ ...placed, agent: to, cwd }),
    exchanges,
    cut: trimmed?.cut,
    report,
    repairs: delivery.repairs,
    warnings: [...rejected, ...delivery.warnings],
  }
}

/** Errors that the target's checker finds in the file, one warning per rule. */
async function findRejected(agent: Agent, form: string, path: string): Promise<readonly DeliveryWarning[]> {
  if (!agent.check) return []
  const byRule = new Map<string, { readonly first: CheckFinding; count: number }>()
  for await (const finding of agent.check(() => createReadStream(path), { form })) {
    if (finding.severity !== 'error') continue
    const known = byRule.get(finding.rule)
    if (known) known.count++
    else byRule.set(finding.rule, { first: finding, count: 1 })
  }
  return [...byRule.values()].map(({ first: { what, place }, count }) => ({
    code: 'rejected',
    what: `${agent.label} may not read all of this conversation. ${what.en} (${place}${count > 1 ? ` and ${count - 1} more` : ''})`,
    what_ja: `${agent.label} はこの会話の一部を読めないことがあります。${what.ja}（${place}${count > 1 ? `、ほか ${count - 1} か所` : ''}）`,
  }))
}

/** Links resolved, because programs find conversations by the real path. */
function resolveDirectory(cwd: string | undefined): string {
  if (cwd === undefined)
    throw new AppError(
      'bad_usage',
      'The session does not record its directory. Specify one with --cwd.',
      'どのディレクトリーの会話か記録されていません。--cwd で指定してください。',
    )
  if (!isFolder(cwd)) {
    // Comes from a log: printed on one line, it cannot imitate a message of ours.
    const shown = toPrintableField(cwd)
    throw new AppError(
      'bad_usage',
      `Directory not found: ${shown}. Specify another with --cwd.`,
      `${shown} というディレクトリーはこのマシンにありません。--cwd で指定してください。`,
    )
  }
  return realpathSync(cwd)
}

interface HandoffMeasure {
  readonly exchanges: number
  readonly lastAt: Instant | undefined
}

async function measureSource(
  messages: AsyncIterable<NormalizedMessage>,
  exchanges: AsyncIterable<Exchange>,
): Promise<HandoffMeasure> {
  let lastAt: Instant | undefined
  for await (const { timestamp, metadata } of messages)
    if (!metadata?.timestamp_inferred && (lastAt === undefined || timestamp > lastAt)) lastAt = timestamp as Instant
  let count = 0
  for await (const _ of exchanges) count++
  if (count === 0)
    throw new AppError('nothing_readable', 'The session has no exchanges.', 'この会話には発言がありません。')
  return { exchanges: count, lastAt }
}

const UNCHANGED = phrase('nothing was changed', '何も変更していません')
const ROLLED_BACK = phrase('everything was rolled back', '元に戻しました')

/** Throws `cannot_write` if the target reads differently from the source. */
async function verifyTarget(
  source: AsyncGenerator<Exchange>,
  target: ConversionSource,
  report: Report,
  outcome: Phrase,
): Promise<Session> {
  const { session, facts } = await readSessionFacts(target)
  const found = (): AsyncGenerator<Exchange> =>
    readExchanges(readSourceMessages({ ...target, session: session.id }, session), facts)
  // If the oldest exchanges had to go, the rest must be the same.
  const isCut = report.losses.some(({ code }) => code === 'oldest_left_out')
  const difference = await findDifference(
    isCut ? await lastExchanges(source, found()) : source,
    found(),
    allowedChangesIn(report),
  )
  if (difference === undefined) return session
  throw new AppError(
    'cannot_write',
    `The target does not read back identically (${difference.en}); ${outcome.en}.`,
    `引き継ぎ先で同じように読めません（${difference.ja}）。${outcome.ja}。`,
  )
}

const allowedChangesIn = ({ losses, repairs }: Report): AllowedChanges => ({
  names: repairs.some(({ code }) => code === 'tool_renamed'),
  images: [...losses, ...repairs].reduce(
    (sum, { code, times }) => sum + (code === 'image_unheld' || code === 'image_unaddressed' ? times : 0),
    0,
  ),
})

async function lastExchanges(source: AsyncGenerator<Exchange>, found: AsyncGenerator<Exchange>) {
  let wanted = 0
  for await (const _ of found) wanted++
  const latest: Exchange[] = []
  for await (const one of source) {
    latest.push(one)
    if (latest.length > wanted) latest.shift()
  }
  return iterate(latest)
}

async function* iterate<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values
}

interface DeliveryContext extends HandoffOptions {
  readonly cwd: string
  readonly lastAt: Instant | undefined
  readonly session: Session
  readonly backups: DeliveryBackup
}

async function deliverTo(
  agent: Agent,
  to: AgentId,
  { path }: SavedConversion,
  context: DeliveryContext,
): Promise<Delivery> {
  const { environment, cwd, lastAt, session, mayReplace = false, isDry = false, now, backups } = context
  const title = toTitle(session.title ?? session.first_prompt)
  const delivery = await agent.deliver?.(path, {
    environment,
    to,
    cwd,
    now: now(),
    mayReplace,
    isDry,
    nativeId: session.native_id,
    ...(lastAt !== undefined && { lastAt }),
    ...(title !== undefined && { title }),
    backup: backups,
  })
  if (!delivery) throw new AppError('bad_usage', `Cannot hand over to "${to}".`, `「${to}」には引き継げません。`)
  return delivery
}

const MAX_TITLE_LENGTH = 80

/** One line, without half a surrogate pair, which some programs refuse. */
const toTitle = (text: string | undefined): string | undefined =>
  text
    ?.replaceAll(/\s+/g, ' ')
    .slice(0, MAX_TITLE_LENGTH)
    .replace(/[\ud800-\udbff]$/, '')

/** Writes the sidecar: the target holds these extensions itself only until its program saves the conversation. */
async function finishDelivery(
  target: ConversionSource,
  delivery: Delivery,
  saved: SavedConversion,
  source: () => AsyncGenerator<Exchange>,
  report: Report,
  { directory, isDry, backups }: HandoffOptions & { readonly backups: HandoffBackups },
): Promise<Session> {
  let sidecarPath: string | undefined
  try {
    const placed = await verifyTarget(source(), target, report, ROLLED_BACK)
    await backups.keep(target.agent)
    if (isDry || saved.sidecar === undefined) return placed
    sidecarPath = rowSidecarPath(directory, delivery.source.agent, placed.native_id)
    copyFileAtomically(saved.sidecar, sidecarPath)
    return placed
  } catch (error) {
    await delivery.undo()
    if (sidecarPath !== undefined && existsSync(sidecarPath)) rmSync(sidecarPath)
    throw error
  }
}

/** Backs up the conversation that is replaced: to a file, and a row also to the backup database. */
class HandoffBackups implements DeliveryBackup {
  readonly #options: HandoffOptions
  #row: { readonly source: Source; readonly bytes: Uint8Array } | undefined
  path: string | undefined

  constructor(options: HandoffOptions) {
    this.#options = options
  }

  row(source: Source, bytes: Uint8Array): void {
    this.#row = { source, bytes }
    this.path = writeBackupFile(this.#folder, bytes, this.#options.now())
  }

  file(path: string): string {
    const copy = copyToBackupFile(this.#folder, path, this.#options.now())
    this.path = copy
    return copy
  }

  async keep(agent: Agent): Promise<void> {
    const { source, bytes } = this.#row ?? {}
    if (!source || !bytes || source.key === undefined) return
    const captured = await agent.volatile?.capture({ ...source, bytes })
    const from = { agent: source.agent, store: source.path, key: source.key }
    const at = instantFromMs(this.#options.now().getTime()) as Instant
    if (captured?.kind === 'conversation') this.#options.keep.put(captured.capture, from, at)
    else if (captured?.kind === 'unreadable') this.#options.keep.putUnreadable(captured.bytes, from, at)
  }

  get #folder(): string {
    return join(this.#options.directory, 'backups')
  }
}

interface SavedConversion {
  readonly path: string
  /** The extensions that the target program would drop; undefined if none. */
  readonly sidecar: string | undefined
}

const suffixOf = ({ forms = [] }: Agent, form: string): string =>
  (forms.find(({ name }) => name === form) ?? forms[0])?.suffix ?? ''

async function saveToFolder(folder: string, suffix: string, { pieces }: Conversion): Promise<SavedConversion> {
  const path = join(folder, `conversation${suffix}`)
  const sidecarPath = sidecarOf(path)
  const output = openSync(path, 'wx', 0o600)
  const parts = openSync(sidecarPath, 'wx', 0o600)
  let count = 0
  try {
    for await (const piece of pieces) {
      if (piece.kind === 'bytes') writeAll(output, piece.bytes)
      else writeAll(parts, Buffer.from(`${count === 0 ? SIDECAR_START : ''}${sidecarLine(piece, count++ === 0)}`))
    }
    if (count > 0) writeAll(parts, Buffer.from(SIDECAR_END))
  } finally {
    closeSync(output)
    closeSync(parts)
  }
  return { path, sidecar: count > 0 ? sidecarPath : undefined }
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done)
}
