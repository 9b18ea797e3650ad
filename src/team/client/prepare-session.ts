/**
 * Makes of a local session what would leave this machine: its redacted messages, one line of JSON each, and its numbers
 * as the local index has them. Redaction that fails, fails the session: nothing of it is sent.
 */
import type { App, SessionEntry } from '../../app.ts'
import { Spool } from '../../lib/files/temp-files.ts'
import { withYields } from '../../lib/yield-loop.ts'
import { AppError } from '../../model/error.ts'
import type { SessionId } from '../../model/ids.ts'
import { type NormalizedMessage, serializeMessage } from '../../model/normalized.ts'
import { utcHourOf } from '../../model/totals.ts'
import { allUsageFields } from '../../model/usage.ts'
import { peopleOnMachine } from '../../redact/people.ts'
import { type RedactionResult, Redactor } from '../../redact/redactor.ts'
import { CHECKPOINT_MESSAGES, extendChain, type MessageChain, NO_CHAIN, sessionKeyOf } from '../hash-chain.ts'
import type { BeginBody, FinishBody } from '../protocol.ts'
import type { SharedWith } from './membership.ts'
import { projectNameOf } from './project-name.ts'

export interface PreparedSession {
  readonly id: SessionId
  readonly key: string
  readonly revision: number
  readonly begin: BeginBody
  /** Everything but the generation, which the server knows. */
  readonly finish: Omit<FinishBody, 'generation'>
  readonly lines: Spool
  /** Of the first messages. Undefined if there are not so many. */
  chainAt(count: number): MessageChain | undefined
  readonly redaction: RedactionResult
  close(): void
}

const QUARTER_MS = 900_000
const NO_QUARTER = -1
const MAX_TEXT = 900

/** Throws an AppError, or whatever the redaction throws: then the session must not be sent. */
export async function prepareSession(app: App, entry: SessionEntry, sharing: SharedWith): Promise<PreparedSession> {
  const header = app.index.header(entry.id)
  if (!header)
    throw new AppError('not_found', `${entry.id} is not in the index any more.`, `${entry.id} は索引にありません。`)
  const redactor = new Redactor(peopleOnMachine(app.environment))
  const isUsageOnly = sharing.shared === 'usage'
  const spool = new Spool()
  try {
    if (!isUsageOnly) await redactor.learn(readMessages(app, entry), header)
    const redactedHeader = await redactor.session(header)
    const { chains, last } = isUsageOnly
      ? { chains: NO_CHAINS, last: NO_CHAIN }
      : await spoolMessages(redactor.messages(readMessages(app, entry)), spool)
    const short = async (text: string | undefined): Promise<string | null> =>
      text === undefined || isUsageOnly ? null : (await redactor.text(text)).slice(0, MAX_TEXT)
    const project = projectNameOf(entry.project ?? header.cwd, header.git?.repository_url)
    const details = app.index.details([entry.id]).get(entry.id)
    const parent = entry.parent === undefined ? undefined : app.index.header(entry.parent)
    return {
      id: entry.id,
      key: sessionKeyOf(header.agent, header.native_id, header.first_record),
      revision: entry.revision,
      begin: {
        agent: header.agent,
        native_id: header.native_id,
        first_record: header.first_record,
        project: await redactor.text(project),
        shared: sharing.shared,
        ...(sharing.shared === 'named' && { people: [...sharing.people] }),
      },
      finish: {
        ...numbersOf(app, entry),
        records: spool.length,
        texts: last.texts,
        agent: header.agent,
        kind: entry.kind,
        title: await short(entry.title),
        first_prompt: await short(header.first_prompt),
        branch: await short(header.git?.branch),
        cwd: await short(header.cwd),
        models: [...entry.models],
        header: isUsageOnly ? null : JSON.stringify({ ...redactedHeader, path: '' }),
        parent: parent ? sessionKeyOf(parent.agent, parent.native_id, parent.first_record) : null,
        relation: entry.relation ?? null,
        started_at: entry.started_at,
        last_at: entry.last_at,
        messages: entry.messages,
        turns: details?.turns ?? 0,
        tools: entry.tools,
        errors: details?.errors ?? 0,
        issues: details?.issues ?? 0,
        size_bytes: entry.size,
        estimate: entry.estimate === undefined ? null : JSON.stringify(entry.estimate),
        credits: entry.credits ?? null,
      },
      lines: spool,
      chainAt: (count) => chainAt(spool, chains, count),
      redaction: redactor.redacted(),
      close: () => spool.close(),
    }
  } catch (error) {
    spool.close()
    throw error
  }
}

const NO_CHAINS: ReadonlyMap<number, MessageChain> = new Map([[0, NO_CHAIN]])

/** From the checkpoint before. */
function chainAt(lines: Spool, chains: ReadonlyMap<number, MessageChain>, count: number): MessageChain | undefined {
  if (count > lines.length) return undefined
  const known = chains.get(count)
  if (known) return known
  const start = count - (count % CHECKPOINT_MESSAGES)
  let chain = chains.get(start) ?? NO_CHAIN
  for (let at = start; at < count; at++) {
    const json = (lines.at(at) ?? Buffer.alloc(0)).toString('utf8')
    const { role, id } = JSON.parse(json) as NormalizedMessage
    chain = extendChain(chain, `${role} ${id}`, json)
  }
  return chain
}

/** The name of a local session at the team. */
export function keyOfSession(app: App, id: SessionId): string | undefined {
  const header = app.index.header(id)
  return header && sessionKeyOf(header.agent, header.native_id, header.first_record)
}

async function* readMessages(app: App, { id }: SessionEntry): AsyncGenerator<NormalizedMessage> {
  const log = await app.logOf(id)
  if (!log)
    throw new AppError(
      'not_found',
      `The log of ${id} is gone, and there is no backup.`,
      `${id} のログがなく、バックアップもありません。`,
    )
  for await (const batch of withYields(log.agent.read(log.source)))
    for (const one of batch) if (one.kind === 'message' && one.message.raw.session_id === id) yield one.message
}

async function spoolMessages(
  messages: AsyncIterable<NormalizedMessage>,
  spool: Spool,
): Promise<{ readonly chains: ReadonlyMap<number, MessageChain>; readonly last: MessageChain }> {
  const chains = new Map<number, MessageChain>([[0, NO_CHAIN]])
  let chain = NO_CHAIN
  for await (const message of messages) {
    const { json } = serializeMessage(message)
    spool.push(Buffer.from(json))
    chain = extendChain(chain, `${message.role} ${message.id}`, json)
    if (spool.length % CHECKPOINT_MESSAGES === 0) chains.set(spool.length, chain)
  }
  chains.set(spool.length, chain)
  return { chains, last: chain }
}

/** As the local statistics count them. */
function numbersOf({ index }: App, { id }: SessionEntry): Pick<FinishBody, 'usage' | 'tool_use' | 'activity'> {
  const filter = { ids: [id], kind: 'any' as const }
  const quarterOf = (at: string | null): number => (at === null ? NO_QUARTER : Math.floor(Date.parse(at) / QUARTER_MS))
  return {
    usage: index
      .usageRecords(filter)
      .map(({ at, model, usage }) => ({ quarter: quarterOf(at), model, ...allUsageFields(usage) })),
    tool_use: (index.stats({ ...filter, hourOf: utcHourOf })?.tools ?? []).map(
      ({ tool, calls, results, errors, duration_ms, timed }) => ({
        tool: tool.slice(0, 300),
        calls,
        results,
        errors,
        duration_ms: Math.max(0, Math.round(duration_ms)),
        timed,
      }),
    ),
    activity: index.activity(filter).map(({ at, count }) => ({ quarter: Math.floor(at / QUARTER_MS), count })),
  }
}
