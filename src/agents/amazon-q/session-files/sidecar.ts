/** What Kiro notes of a session in the file beside it: directory, title, model, credits. */
import { readRegularFile } from '../../../lib/files/regular-file.ts'
import { isFile } from '../../../lib/files/safe-fs.ts'
import {
  type Fields,
  fieldsOf,
  isObject,
  listOf,
  nonEmptyStringOf,
  numberOf,
  parseStructure,
} from '../../../lib/unknown-values.ts'
import { type Instant, makeSessionId, toInstant } from '../../../model/ids.ts'
import type { Session } from '../../../model/session.ts'
import { KIRO } from '../stores.ts'

export interface Sidecar {
  readonly cwd?: string
  readonly title?: string
  readonly model?: string
  readonly created?: Instant
  readonly updated?: Instant
  /** The session that started this one, or from which it was rewound. */
  readonly parent?: string
  readonly isRewound?: boolean
  /** What the turns of version 2 cost. */
  readonly credits?: number
  readonly agentName?: string
}

/** Undefined where there is none, or none that can be read. */
export function readSidecar(path: string): Sidecar | undefined {
  try {
    const value = isFile(path) ? parseStructure(readRegularFile(path).toString('utf8')) : undefined
    return isObject(value) ? ('workspacePaths' in value ? sidecarOf3(value) : sidecarOf2(value)) : undefined
  } catch {
    return undefined
  }
}

function sidecarOf2(value: Fields): Sidecar {
  const state = fieldsOf(value['session_state'])
  const turns = fieldsOf(state?.['conversation_metadata'])?.['user_turn_metadatas']
  return withoutUndefined({
    cwd: nonEmptyStringOf(value['cwd']),
    title: nonEmptyStringOf(value['title']),
    model: nonEmptyStringOf(fieldsOf(fieldsOf(state?.['rts_model_state'])?.['model_info'])?.['model_id']),
    created: toInstant(value['created_at']),
    updated: toInstant(value['updated_at']),
    parent: nonEmptyStringOf(value['parent_session_id']),
    isRewound: value['session_created_reason'] === 'rewind',
    credits: creditsIn(listOf(turns).flatMap((turn) => listOf(fieldsOf(turn)?.['metering_usage']))),
    agentName: nonEmptyStringOf(state?.['agent_name']),
  })
}

function sidecarOf3(value: Fields): Sidecar {
  return withoutUndefined({
    cwd: nonEmptyStringOf(listOf(value['workspacePaths'])[0]),
    title: nonEmptyStringOf(value['title']),
    model: nonEmptyStringOf(value['modelId']),
    created: toInstant(value['createdAt']),
    updated: toInstant(value['lastModifiedAt']),
    agentName: nonEmptyStringOf(value['agentMode']),
  })
}

const withoutUndefined = (values: { readonly [K in keyof Sidecar]: Sidecar[K] | undefined }): Sidecar =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))

/** Sums only what is counted in credits. Undefined where nothing was. */
export function creditsIn(amounts: readonly unknown[]): number | undefined {
  let sum: number | undefined
  for (const one of amounts.filter(isObject)) {
    const value = numberOf(one['value'] ?? one['usage'])
    const unit = one['unit']
    if (value !== undefined && value >= 0 && (unit === undefined || unit === 'credit')) sum = (sum ?? 0) + value
  }
  return sum
}

/** Six digits, because sums of fractions differ in the last ones. */
export const roundCredits = (credits: number): number => Math.round(credits * 1e6) / 1e6

/** Later values replace earlier ones: Kiro rewrites the file with each turn. */
export function applySidecar(session: Session, sidecar: Sidecar): Session {
  const { cwd, title, model, created, updated, parent, isRewound, credits } = sidecar
  const isFirstPrompt = title !== undefined && session.first_prompt?.startsWith(title.replace(/(?:\.\.\.|…)$/, ''))
  return {
    ...session,
    ...(cwd !== undefined && { cwd }),
    ...(title !== undefined && !isFirstPrompt && { title }),
    ...(model !== undefined && !session.models.includes(model) && { models: [...session.models, model] }),
    ...(created !== undefined && isEarlier(created, session.started_at) && { started_at: created }),
    ...(updated !== undefined && isEarlier(session.last_at ?? session.started_at, updated) && { last_at: updated }),
    ...(credits !== undefined && { credits: roundCredits(credits) }),
    ...(parent !== undefined &&
      parent !== session.native_id && {
        parent: makeSessionId(KIRO, parent),
        relation: isRewound ? 'fork' : 'subagent',
        ...(!isRewound && { origin: 'subagent' }),
      }),
  }
}

const isEarlier = (one: Instant | null, other: Instant | null): boolean =>
  other === null || (one !== null && one < other)
