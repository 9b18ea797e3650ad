/**
 * Any conversation, written as another agent's.
 *
 * @example
 * import { convertLog, formsToWrite } from 'fumibako/convert'
 * import { logsAt } from 'fumibako/normalize'
 * for await (const log of logsAt('rollout.jsonl')) {
 *   const conversion = await convertLog(log, 'openai')
 *   for await (const piece of conversion.pieces) if (piece.kind === 'bytes') process.stdout.write(piece.bytes)
 *   console.error(conversion.report().losses)
 * }
 */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { Agent, Source, WrittenForm } from './agents/agent.ts'
import { allAgents } from './agents/load-agents.ts'
import {
  type Conversion,
  type ConversionSource,
  type ConvertOptions,
  convert,
  type MessageFilter,
  readSessionFacts,
  readSourceMessages,
} from './convert/convert.ts'
import { type HandedOver, type HandoffOptions, handoff, handoffTargets } from './convert/handoff.ts'
import { createSidecarRestorer, findRowSidecar, sidecarOf } from './convert/sidecar.ts'
import { type Cut, shortenConversation } from './convert/trim.ts'
import { AppError } from './model/error.ts'
import type { AgentId } from './model/ids.ts'

export type { Conversion, MessageFilter, Piece } from './convert/convert.ts'
export type { HandedOver } from './convert/handoff.ts'
export type { Loss, Repair, Report } from './convert/loss-report.ts'
export { SIDECAR_END, SIDECAR_START, sidecarLine, sidecarOf } from './convert/sidecar.ts'
export type { Cut } from './convert/trim.ts'

/** All forms that can be written, ordered by agent. */
export async function formsToWrite(): Promise<readonly WrittenForm[]> {
  return (await allAgents()).flatMap(({ forms }) => forms ?? [])
}

export interface LogToConvert {
  readonly agent: Agent
  readonly source: Source
  /** Id of the session to convert; default: the first. */
  readonly session?: string
  /** Changes messages before they are written; `session` and `messages` of a redactor, for instance. */
  readonly filter?: MessageFilter
}

export interface LogOptions extends Partial<Omit<ConvertOptions, 'now' | 'newId'>> {
  /** For a smaller window: keeps complete turns from the end and summarizes the others. */
  readonly maxTokens?: number
  /** Our data directory, which contains sidecars of database rows. */
  readonly directory?: string
  /** Called with what was cut. */
  readonly onCut?: (cut: Cut) => void
}

/** Uses the sidecar of the file, if there is one. */
export async function convertLog(log: LogToConvert, to: string, options: LogOptions = {}): Promise<Conversion> {
  requireLog(log)
  const target = (await allAgents()).find(({ forms }) => forms?.some(({ name }) => name === to))
  if (!target) {
    const known = (await formsToWrite()).map(({ name }) => name)
    throw new AppError(
      'bad_usage',
      `Unknown format "${to}". Available: ${known.join(', ')}.`,
      `「${to}」という形式では書き込めません。使えるのは ${known.join('、')} です。`,
    )
  }
  const { maxTokens, directory, onCut, ...rest } = options
  const whole = await withBeside(log, directory)
  const from = maxTokens === undefined ? whole : await shorter(whole, maxTokens, onCut)
  return convert(from, { agent: target, form: to }, { ...rest, now: () => new Date(), newId: timeOrderedId })
}

/** A path is a common mistake of callers without TypeScript. */
function requireLog(log: Partial<LogToConvert> | undefined): void {
  if (typeof log === 'object' && log !== null && log.agent && log.source) return
  throw new AppError(
    'bad_usage',
    'log must be a log from logsAt(path) of fumibako/normalize.',
    'log には fumibako/normalize の logsAt(path) が返すログを指定してください。',
  )
}

async function withBeside(log: LogToConvert, directory: string | undefined): Promise<ConversionSource> {
  if (log.source.key === undefined) {
    const path = sidecarOf(log.source.path)
    return existsSync(path) ? { ...log, beside: createSidecarRestorer(path) } : log
  }
  if (directory === undefined) return log
  const { session } = await readSessionFacts(log)
  return { ...log, session: session.id, ...findRowSidecar(log, session, directory) }
}

async function shorter(
  from: ConversionSource,
  maxTokens: number,
  onCut: LogOptions['onCut'],
): Promise<ConversionSource> {
  const { session } = await readSessionFacts(from)
  const { open, cut } = await shortenConversation(() => readSourceMessages(from, session), maxTokens)
  onCut?.(cut)
  return { ...from, session: session.id, beside: open }
}

/** Where to continue the conversation, and paths of this machine. */
export type HandOverOptions = Omit<HandoffOptions, 'agents' | 'now' | 'newId'>

/** Agents to which a conversation can be handed over. */
export const targetsOfHandoff = async (): Promise<readonly AgentId[]> => handoffTargets(await allAgents())

/**
 * Writes the conversation to the other program's store, reads it back and compares. If it throws, nothing has changed.
 */
export async function handOver(log: LogToConvert, to: AgentId, options: HandOverOptions): Promise<HandedOver> {
  requireLog(log)
  return handoff(log, to, { ...options, agents: await allAgents(), now: () => new Date(), newId: timeOrderedId })
}

/** A version 7 UUID, which sorts by time. */
function timeOrderedId(): string {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(Date.now(), 0, 6)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
