/** What a device and the server of a team say to each other. Every request is parsed once, at the edge of the server. */
import { z } from 'zod'
import { parseStructure } from '../lib/unknown-values.ts'
import type { NormalizedMessage } from '../model/normalized.ts'

/** Who may read a session: only its owner, named people, the team; or the team sees its numbers and no text exists. */
export const SHARINGS = ['nobody', 'named', 'team', 'usage'] as const
export type Sharing = (typeof SHARINGS)[number]

/** Of an address `/join#code`. */
export const JOIN_PATH = '/join'
export const TEAM_API = '/api/team'
export const PROOF_HEADER = 'fumi-proof'

/** What a device signs to get a token, or to change something. */
export const tokenText = (team: string, device: number, at: string, nonce: string): string =>
  ['fumi team token', team, device, at, nonce].join('\n')
export const proofText = (request: {
  readonly method: string
  readonly target: string
  readonly bodyHash: string
  readonly token: string
  readonly at: string
  readonly nonce: string
}): string => {
  const { method, target, bodyHash, token, at, nonce } = request
  return ['fumi team request', method, target, bodyHash, token, at, nonce].join('\n')
}

const shortText = z.string().min(1).max(200)
const count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)
const smallCount = z.number().int().min(0).max(2_000_000_000)
const time = z.iso.datetime().nullable()

export const JOIN_BODY = z.object({
  code: shortText,
  device: shortText,
  /** SPKI, base64url. */
  public_key: z.string().min(40).max(200),
  name: shortText.optional(),
  /** Of the account on the machine: the name if the invitation has none, and none was typed. */
  user: shortText.optional(),
})
export type JoinBody = z.infer<typeof JOIN_BODY>

export interface JoinReply {
  readonly team: { readonly id: string; readonly name: string }
  readonly person: { readonly id: number; readonly name: string; readonly is_admin: boolean }
  readonly device: number
}

export const TOKEN_BODY = z.object({
  device: smallCount,
  at: z.string().max(40),
  nonce: z.string().min(16).max(64),
  signature: z.string().max(200),
})

export interface TokenReply {
  readonly token: string
  readonly expires_in: number
}

export const INVITE_BODY = z.object({
  name: shortText.optional(),
  email: z.email().optional(),
  is_admin: z.boolean().optional(),
  /** A further device of the person who asks. */
  is_own: z.boolean().optional(),
  hours: z
    .number()
    .int()
    .min(1)
    .max(24 * 90)
    .optional(),
})
export type InviteBody = z.infer<typeof INVITE_BODY>

export const SHARE_FIELDS = {
  shared: z.enum(SHARINGS),
  /** Names of people, with `named`. */
  people: z.array(shortText).max(1000).optional(),
}

export const BEGIN_BODY = z.object({
  agent: shortText,
  native_id: z.string().min(1).max(500),
  first_record: z.string().max(100),
  project: z.string().min(1).max(300),
  ...SHARE_FIELDS,
})
export type BeginBody = z.infer<typeof BEGIN_BODY>

export interface BeginReply {
  readonly key: string
  /** `withdrawn` and `other_person` are not to be sent. */
  readonly state: 'open' | 'withdrawn' | 'other_person'
  readonly generation: number
  readonly stored: number
  readonly ids: string
  readonly texts: string
  readonly is_complete: boolean
  /** What is stored up to certain numbers of messages. */
  readonly checkpoints: readonly { readonly stored: number; readonly ids: string; readonly texts: string }[]
}

/** The first line of a chunk; the messages follow, one on each line. */
export const CHUNK_HEAD = z.object({
  generation: smallCount,
  from: smallCount,
  ids: z.string().max(64),
  texts: z.string().max(64),
})
export type ChunkHead = z.infer<typeof CHUNK_HEAD>

export const REPLACE_BODY = z.object({ generation: smallCount, keep: smallCount })

const usage = z.object({
  input_tokens: count,
  cached_input_tokens: count,
  cache_write_tokens: count,
  cache_write_1h_tokens: count,
  output_tokens: count,
  reasoning_output_tokens: count,
  total_tokens: count,
})

const ESTIMATE = z.object({
  user_tokens: count,
  assistant_tokens: count,
  total_tokens: count,
  estimated: z.literal(true),
})

/** A text that everybody who sees the session parses. */
const jsonOf = (schema: z.ZodType, length: number) =>
  z
    .string()
    .max(length)
    .refine((text) => schema.safeParse(parseStructure(text)).success, 'is not the JSON that is expected')

export const FINISH_BODY = z.object({
  generation: smallCount,
  records: smallCount,
  texts: z.string().max(64),
  agent: shortText,
  kind: z.enum(['conversation', 'prompts']),
  title: z.string().max(1000).nullable(),
  first_prompt: z.string().max(1000).nullable(),
  branch: z.string().max(500).nullable(),
  cwd: z.string().max(2000).nullable(),
  models: z.array(z.string().max(200)).max(200),
  /** The session's header as JSON. Null where only numbers are shared. */
  header: jsonOf(z.looseObject({}), 1_000_000).nullable(),
  parent: z
    .string()
    .regex(/^[\da-f]{16}$/)
    .nullable(),
  relation: z.enum(['fork', 'subagent', 'revert']).nullable(),
  started_at: time,
  last_at: time,
  messages: smallCount,
  turns: smallCount,
  tools: smallCount,
  errors: smallCount,
  issues: smallCount,
  size_bytes: count,
  estimate: jsonOf(ESTIMATE, 1000).nullable(),
  credits: z.number().min(0).nullable(),
  usage: z
    .array(usage.extend({ quarter: z.number().int().min(-1).max(10_000_000), model: z.string().max(200) }))
    .max(200_000),
  tool_use: z
    .array(
      z.object({
        tool: z.string().max(300),
        calls: smallCount,
        results: smallCount,
        errors: smallCount,
        duration_ms: count,
        timed: smallCount,
      }),
    )
    .max(20_000),
  activity: z.array(z.object({ quarter: z.number().int().min(0).max(10_000_000), count: smallCount })).max(200_000),
})
export type FinishBody = z.infer<typeof FINISH_BODY>

export const SHARE_BODY = z.object(SHARE_FIELDS)

export interface ExportedSession {
  readonly session: string
  readonly person: string | null
  readonly shared: string
  readonly project: string
  readonly agent: string
  readonly branch: string | null
  readonly revision: number
  /** By quarter of an hour and model. */
  readonly usage: readonly object[]
}

export const RECALL_QUERY = z.object({
  q: z.string().min(1).max(20_000),
  limit: z.coerce.number().int().min(1).max(100).default(20),
  project: shortText.optional(),
  person: shortText.optional(),
  agent: shortText.optional(),
  since: shortText.optional(),
})

export interface RecalledSession {
  readonly session: string
  readonly person: string | null
  readonly project: string
  readonly agent: string
  readonly title: string | null
}

export interface RecalledPassage extends RecalledSession {
  /** Number of the message in its session, from 0. */
  readonly seq: number
  readonly at: string
  readonly message: NormalizedMessage
  readonly words: readonly string[]
}

export interface ReadReply {
  readonly session: RecalledSession
  readonly stored: number
  readonly messages: readonly { readonly seq: number; readonly message: NormalizedMessage }[]
}

export const LEAVE_BODY = z.object({
  sessions: z.enum(['take', 'erase', 'leave']),
  /** Whom an administrator removes. Default: the person who asks. */
  person: shortText.optional(),
})

/** What a team decided for everybody. */
export const POLICY = z.object({
  /** Days after the last message of a session. Null: no limit. */
  retention_days: z.number().int().min(1).max(36_500).nullable(),
  /** Only numbers are accepted: no text ever arrives. */
  usage_only: z.boolean(),
  /** What becomes of the sessions of a person who leaves: `choice` asks. */
  leaving: z.enum(['choice', 'erase', 'leave']),
  /** The domains whose addresses may sign in through the provider without an invitation. */
  domains: z.array(z.string().max(200)).max(100),
})
export type Policy = z.infer<typeof POLICY>
export const DEFAULT_POLICY: Policy = { retention_days: null, usage_only: false, leaving: 'choice', domains: [] }
/** A change sets only some fields. */
export const POLICY_BODY = POLICY.partial()

export const MAX_CHUNK_BYTES = 64_000_000
export const SESSION_ID = /^team:([\da-f]{16})$/
export const teamSessionId = (key: string): string => `team:${key}`
