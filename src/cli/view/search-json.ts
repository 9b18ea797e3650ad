/** The JSON of a search. */
import type {
  LoadedMessage,
  MessageHit,
  QueryDescription,
  SearchAnswer,
  SessionAnnotation,
  SessionEntry,
} from '../../app.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import type { HitContext } from '../index-queries/fetch-hits.ts'

type FoundAnswer = Extract<SearchAnswer, { kind: 'found' }>

export const toAnswerJson = (
  { total, total_is, complete, left: unindexed, hits, titles, sessions, marks }: FoundAnswer,
  { filters }: QueryDescription,
  contexts: ReadonlyMap<MessageHit, HitContext>,
): object => {
  const annotations = new Map(marks.map((one) => [one.session, one]))
  return {
    total,
    total_is,
    complete,
    left: unindexed,
    filters: filters.map(({ key, value, not }) => ({ key, value, not })),
    hits: hits.map((hit) => toHitJson(hit, contexts)),
    titles: titles.map(({ id }) => id),
    sessions: sessions.map((one) => toSessionJson(one, annotations.get(one.id))),
  }
}

export const toSessionJson = (
  { id, agent, title, project, started_at, last_at, path }: SessionEntry,
  annotation: SessionAnnotation | undefined,
): object => ({
  id,
  agent,
  name: annotation?.name ?? null,
  title: title ?? null,
  cwd: project ?? null,
  started_at,
  last_at,
  path,
})

export function toHitJson(hit: MessageHit, contexts: ReadonlyMap<MessageHit, HitContext>): object {
  const { snippet, keys_only = false, unverified = false, ...rest } = hit
  const context = contexts.get(hit)
  return {
    ...rest,
    tool: hit.tool ?? null,
    keys_only,
    unverified,
    snippet: snippet?.text ?? null,
    highlights: snippet?.highlights ?? [],
    cut_before: snippet?.cutBefore ?? false,
    cut_after: snippet?.cutAfter ?? false,
    ...(context && { before: context.before.map(toNeighbourJson), after: context.after.map(toNeighbourJson) }),
  }
}

const toNeighbourJson = (loaded: LoadedMessage): object => ({
  message_id: loaded.known.id,
  role: loaded.known.role,
  tool: loaded.known.tool ?? null,
  text: loaded.kind === 'body' ? textOfMessage(loaded.message) : null,
})

const textOfMessage = (message: NormalizedMessage): string =>
  message.tool_call
    ? (message.tool_call.output ?? message.tool_call.arguments ?? message.tool_call.input ?? '')
    : message.segments.map(({ text }) => text ?? '').join('\n')
