/** Conversations that are held on the page: `/api/chat`. What is said goes in by requests, what happens comes as events. */
import type { Reply } from './envelope.ts'
import type { MessageItem } from './message.ts'
import type { CheckpointItem } from './session.ts'

/** `GET /api/chat/options`: with what a conversation can be begun. Never a key. */
export type ChatOptionsReply = Reply<ChatOptions>

export interface ChatOptions {
  readonly profiles: readonly ChatProfile[]
  /** Who answers when nobody is chosen; null: nobody is configured. */
  readonly usual: { readonly profile: string | null; readonly model: string | null } | null
  /** Of the profile that was asked for, or of the usual one; empty where its server does not answer. */
  readonly models: readonly string[]
  /** Why there is no list of models, for a person. */
  readonly models_problem: string | null
  /** The same in Japanese. */
  readonly models_problem_ja: string | null
  /** Of the directory that was asked for. */
  readonly agents: readonly ChatAgent[]
  /** Directories in which a conversation can be held; the first one is that of the server. */
  readonly directories: readonly ChatDirectory[]
  readonly commands: readonly ChatCommand[]
}

export interface ChatProfile {
  readonly name: string
  /** Without what may stand before its host. */
  readonly url: string
  /** Made by the user; the others are known by name. */
  readonly own: boolean
}

export interface ChatAgent {
  readonly name: string
  readonly description: string | null
  readonly place: 'project' | 'fumibako' | 'amazon-q' | 'built-in'
  /** What to send as `agent`: the name, or the path of a project's file where the user has an agent of the same name. */
  readonly reference: string
  /** False for a project's file that the user has not trusted as it is now. */
  readonly trusted: boolean
}

export interface ChatDirectory {
  readonly path: string
  /** That the archive knows. */
  readonly sessions: number
  /** The user has started or confirmed a chat there. */
  readonly chosen: boolean
  /** Why it needs `confirmed`; null for a directory that looks like a project. */
  readonly warning: ChatDirectoryWarning | null
}

/**
 * Why a directory is too wide for a chat: the root of the file system, the home directory, one above it, one that holds
 * fumibako's own data, one of settings (`~/.ssh`), or one of the system (`/etc`).
 */
export type ChatDirectoryWarning = 'root' | 'home' | 'above_home' | 'data' | 'settings' | 'system'

/** `meta` of `directory_needed`. */
export interface ChatDirectoryNeeded {
  /** What the log, the journal or the request names. The user has not confirmed it. Null where nothing is named. */
  readonly suggestion: string | null
  /** Whether the suggestion is a directory on this machine and can be confirmed. */
  readonly usable: boolean
  readonly warning: ChatDirectoryWarning | null
  /** `log`: it comes from an imported session. `journal`: from a chat's own file. `request`: from the request itself. */
  readonly from: 'log' | 'journal' | 'request'
}

/** What a project's file would do once it is trusted: an agent of `.amazonq/cli-agents`, or `.amazonq/mcp.json`. */
export interface ChatTrust {
  readonly kind: 'agent' | 'servers'
  /** Absolute. */
  readonly path: string
  /** Of the agent; that of the file for servers. */
  readonly name: string
  /** Of the exact bytes of the file, and of the file that its prompt names. Sent back to trust this version and no other. */
  readonly sha256: string
  readonly prompt_sha256: string | null
  /** An earlier version was trusted. */
  readonly changed: boolean
  readonly items: readonly ChatTrustItem[]
  /** Items beyond the ones listed. */
  readonly left: number
}

export interface ChatTrustItem {
  readonly kind: ChatTrustKind
  /** Of the hook's trigger, the server or the setting; empty where the kind says it all. */
  readonly name: string
  /** As the file has it, at most 2,000 characters. Untrusted text. */
  readonly text: string
  /** Characters beyond these. */
  readonly cut: number
}

/** In the order in which they are listed: what runs comes first. */
export const CHAT_TRUST_KINDS = ['hook', 'server', 'env', 'allowed', 'setting', 'alias', 'prompt'] as const
export type ChatTrustKind = (typeof CHAT_TRUST_KINDS)[number]

/** `POST /api/chat/trust`: trusts a project's file in the version that was shown. */
export interface ChatTrustBody {
  readonly path: string
  readonly sha256: string
  readonly prompt_sha256: string | null
}

export type ChatTrustReply = Reply<{ readonly path: string }>

/** What can be typed after a slash. */
export interface ChatCommand {
  readonly name: string
  readonly aliases: readonly string[]
  readonly args: string
  readonly help: string
  /** The same in Japanese. */
  readonly help_ja: string
  /** First words that it knows. */
  readonly words: readonly string[]
}

/**
 * `POST /api/chat`. With `session` an own conversation is gone on with, and any other is copied and gone on with; else a
 * new one begins. A directory must be one of the options. The directory never comes from a log: the first time that an
 * imported session is continued, `directory` is needed.
 */
export interface ChatBody {
  readonly session?: string
  readonly directory?: string
  /** The user has confirmed a directory for which `directory_needed` was returned. */
  readonly confirmed?: boolean
  readonly profile?: string
  readonly model?: string
  /** `reference` of one of the options. */
  readonly agent?: string
}

export type ChatReply = Reply<ChatState>

/** How a conversation stands. */
export interface ChatState {
  /** Of the conversation, for the address of its events. */
  readonly id: string
  /** Of its session in the archive. */
  readonly session: string
  readonly directory: string
  readonly model: string
  readonly agent: string
  readonly running: boolean
  /** How full the window is, as the server counted it last, else estimated. */
  readonly window: { readonly tokens: number; readonly percent: number }
  /** Tangents that are open, the innermost last. */
  readonly tangents: readonly (string | null)[]
  /** When the innermost one began. */
  readonly tangent_since: string | null
  readonly checkpoints: readonly CheckpointItem[]
  /** Files that go along with the next prompt, below the directory. */
  readonly attached: readonly string[]
  /** A question to which nothing came; `/retry` sends it again. */
  readonly waiting: boolean
  /** How the model's commands run: without network and with few places to write, like any program of the user, or not at all. */
  readonly sandbox: 'sandboxed' | 'open' | 'refused'
  /** Why there is no sandbox where one is wanted, for a person. */
  readonly sandbox_problem: string | null
  /** The same in Japanese. */
  readonly sandbox_problem_ja: string | null
}

/** `POST /api/chat/:id/say`: a prompt, or a command that begins with a slash. */
export interface ChatSay {
  readonly text: string
}

/** `POST /api/chat/:id/answer`: to a `consent_needed`. Other words cancel the call with these words. */
export interface ChatAnswer {
  readonly id: string
  readonly consent: ChatConsent
  readonly text?: string
}

export type ChatConsent = 'yes' | 'no' | 'trust' | 'words'

/** `GET /api/chat/:id/files`: paths in the conversation's directory that begin so; folders end with a slash. */
export type ChatFilesReply = Reply<readonly string[]>

/** What a call is about to do, for whoever has to allow it. Sentences are English; `…_ja` says the same in Japanese. */
export interface ChatNeed {
  readonly level: 'nothing' | 'read-only' | 'changes' | 'dangerous'
  readonly summary: string
  readonly summary_ja: string
  readonly reason?: string
  readonly reason_ja?: string
  readonly command?: string
  /** What the model says that it is for. */
  readonly purpose?: string
  /** Arguments of a tool of an MCP server, as JSON with indents. */
  readonly arguments?: string
  /** A unified diff of what it would change: the first 100 KB. */
  readonly diff?: string
  /** Characters of the diff that are left out. */
  readonly diff_omitted?: number
  /** Dangerous stretches of the command, the arguments or the diff, whichever is there first: offsets in UTF-16 units. */
  readonly danger?: readonly ChatSpan[]
  /** Changed by somebody else since the model last saw it. */
  readonly stale?: { readonly path: string; readonly diff: string }
}

export interface ChatSpan {
  readonly start: number
  readonly end: number
}

/**
 * `GET /api/chat/:id/events`: server-sent events, whose name is their `kind`. Each has an id; a client that comes back with
 * it as `Last-Event-ID` (or `?since=`) is told what it missed, and one that cannot be told so begins anew. What is said to
 * a person is English; `ja` and `…_ja` say the same in Japanese.
 */
export type ChatEvent =
  /** The first one, and whenever the conversation is at another point. `reset`: all that is shown is shown anew. */
  | {
      readonly kind: 'hello'
      readonly reset: boolean
      readonly state: ChatState
      /** What was said before; only with `reset`. */
      readonly messages: readonly MessageItem[]
      /** Messages before these. */
      readonly earlier: number
    }
  | { readonly kind: 'said'; readonly text: string; readonly at: string }
  | { readonly kind: 'started'; readonly model: string; readonly tokens: number; readonly window: number }
  | { readonly kind: 'delta'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  /** A call is being written. */
  | { readonly kind: 'calling'; readonly name: string }
  /** What came of the answer is void: it is asked for again. */
  | {
      readonly kind: 'retry'
      readonly code: ChatFault
      readonly reason: string
      readonly reason_ja: string
      readonly attempt: number
      readonly wait_ms: number
    }
  | { readonly kind: 'usage'; readonly input: number; readonly output: number; readonly estimated: boolean }
  /** The answer is whole, and on disk. */
  | { readonly kind: 'entry'; readonly number: number; readonly interrupted: string | null }
  | { readonly kind: 'tool_asked'; readonly id: string; readonly name: string; readonly need: ChatNeed }
  | { readonly kind: 'consent_needed'; readonly id: string; readonly name: string; readonly need: ChatNeed }
  /** A project's file would run commands: nothing goes on until `answer` is called with `yes` or `no`. */
  | { readonly kind: 'trust_needed'; readonly id: string; readonly trust: ChatTrust }
  /** Somebody has answered, on this page or another. */
  | { readonly kind: 'consent_given'; readonly id: string; readonly consent: ChatConsent }
  | {
      readonly kind: 'tool_started'
      readonly id: string
      readonly name: string
      readonly summary: string
      readonly summary_ja: string
    }
  | { readonly kind: 'tool_output'; readonly id: string; readonly text: string }
  | {
      readonly kind: 'tool_done'
      readonly id: string
      readonly name: string
      readonly status: 'success' | 'error'
      /** The first 100 KB. */
      readonly output: string
      readonly ms: number
    }
  | {
      readonly kind: 'tools_cancelled'
      readonly ids: readonly string[]
      readonly reason: string
      readonly reason_ja: string
    }
  | { readonly kind: 'compacting'; readonly automatic: boolean }
  | { readonly kind: 'compacted'; readonly summary: string; readonly kept: number }
  | { readonly kind: 'compact_proposed'; readonly percent: number }
  | { readonly kind: 'notice'; readonly code: ChatNotice; readonly text: string; readonly ja: string }
  /** What a command was asked for. */
  | { readonly kind: 'output'; readonly text: string; readonly ja: string }
  | { readonly kind: 'checkpoint'; readonly tag: string }
  /** A text that somebody wants to write on, and say then. */
  | { readonly kind: 'edit'; readonly text: string }
  | { readonly kind: 'error'; readonly text: string; readonly ja: string }
  | {
      readonly kind: 'ended'
      readonly how: ChatEnding
      readonly reason: string | null
      readonly reason_ja: string | null
    }
  /** After whatever may have changed it. */
  | { readonly kind: 'state'; readonly state: ChatState }
  /** It is closed here; `POST /api/chat` opens it again. */
  | { readonly kind: 'closed' }

/** What went wrong between us and the model's server. */
export type ChatFault = 'status' | 'connection' | 'timeout' | 'garbage' | 'aborted' | 'rounds' | 'unknown'

/** What a notice is about. */
export type ChatNotice =
  | 'window_unknown'
  | 'model'
  | 'context_dropped'
  | 'context_unreadable'
  | 'context_outside'
  | 'left_out'
  | 'attached'
  | 'prompt'
  | 'cut'
  | 'range_moved'
  | 'recovered'
  | 'waiting'
  | 'agent'
  | 'mcp'
  | 'checkpoint'
  | 'hook'
  | 'tools_gone'
  | 'journal'
  | 'sandbox'
  /** Events of a long turn that a page which comes later is not told. */
  | 'events_dropped'

export type ChatEnding = 'answered' | 'interrupted' | 'refused' | 'consent' | 'overflow' | 'limit' | 'failed'

export const CHAT_EVENTS = [
  'hello',
  'said',
  'started',
  'delta',
  'reasoning',
  'calling',
  'retry',
  'usage',
  'entry',
  'tool_asked',
  'consent_needed',
  'trust_needed',
  'consent_given',
  'tool_started',
  'tool_output',
  'tool_done',
  'tools_cancelled',
  'compacting',
  'compacted',
  'compact_proposed',
  'notice',
  'output',
  'checkpoint',
  'edit',
  'error',
  'ended',
  'state',
  'closed',
] as const satisfies readonly ChatEvent['kind'][]
