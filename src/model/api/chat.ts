/** Chats on the page: `/api/chat`. Requests carry what the user sends; server-sent events carry what happens. */
import type { Reply } from './envelope.ts'
import type { MessageItem } from './message.ts'
import type { CheckpointItem } from './session.ts'

/** `GET /api/chat/options`: the profiles, models, agents and directories that a chat can use. Contains no API keys. */
export type ChatOptionsReply = Reply<ChatOptions>

export interface ChatOptions {
  /** Configured model servers. */
  readonly profiles: readonly ChatProfile[]
  /** Default profile and model. Null if no profile is configured. */
  readonly usual: { readonly profile: string | null; readonly model: string | null } | null
  /** Models of the requested profile, or of the default profile. Empty if its server does not respond. */
  readonly models: readonly string[]
  /** Why the list of models is empty. */
  readonly models_problem: string | null
  /** `models_problem` in Japanese. */
  readonly models_problem_ja: string | null
  /** Agents available in the requested directory. */
  readonly agents: readonly ChatAgent[]
  /** Directories in which a chat can run. The first one is the directory of the server. */
  readonly directories: readonly ChatDirectory[]
  /** Slash commands. */
  readonly commands: readonly ChatCommand[]
}

export interface ChatProfile {
  /** Name of the profile. */
  readonly name: string
  /** Address of the model server, without user name and password. */
  readonly url: string
  /** True if the user configured the profile; false if it is built in. */
  readonly own: boolean
}

export interface ChatAgent {
  /** Name of the agent. */
  readonly name: string
  /** What the agent is for, from its file. */
  readonly description: string | null
  /** Where the agent is defined. */
  readonly place: 'project' | 'fumibako' | 'amazon-q' | 'built-in'
  /** Value to send as `agent`: the name, or the path of a project file if the user has an agent of the same name. */
  readonly reference: string
  /** False for a project file whose current version the user has not trusted. */
  readonly trusted: boolean
}

export interface ChatDirectory {
  /** Absolute path. */
  readonly path: string
  /** Number of indexed sessions in this directory. */
  readonly sessions: number
  /** True if the user has started or confirmed a chat here. */
  readonly chosen: boolean
  /** Why the directory needs `confirmed`. Null for a directory that looks like a project. */
  readonly warning: ChatDirectoryWarning | null
}

/**
 * Why a directory is too wide for a chat: the root of the file system, the home directory, one above it, one that
 * contains the data of fumibako, one of settings (`~/.ssh`), or one of the system (`/etc`).
 */
export type ChatDirectoryWarning = 'root' | 'home' | 'above_home' | 'data' | 'settings' | 'system'

/** `meta` of a `directory_needed` error. */
export interface ChatDirectoryNeeded {
  /** Directory that the log, the journal or the request names. The user has not confirmed it. Null if none is named. */
  readonly suggestion: string | null
  /** True if the suggestion is a directory on this machine and can be confirmed. */
  readonly usable: boolean
  /** Why the suggestion is too wide for a chat. */
  readonly warning: ChatDirectoryWarning | null
  /** Where the suggestion is from: an imported session (`log`), a chat (`journal`), or the request. */
  readonly from: 'log' | 'journal' | 'request'
}

/** What an agent of `.amazonq/cli-agents`, or `.amazonq/mcp.json`, would do once it is trusted. */
export interface ChatTrust {
  /** `agent` for an agent file, `servers` for a file of MCP servers. */
  readonly kind: 'agent' | 'servers'
  /** Absolute path of the file. */
  readonly path: string
  /** Name of the agent, or of the file for `servers`. */
  readonly name: string
  /** Hash of the exact bytes of the file. Send it back to trust this version and no other. */
  readonly sha256: string
  /** Hash of the prompt file that the agent names. Null if it names none. */
  readonly prompt_sha256: string | null
  /** True if an earlier version was trusted. */
  readonly changed: boolean
  /** What the file would run, allow or set. */
  readonly items: readonly ChatTrustItem[]
  /** Number of items beyond the listed ones. */
  readonly left: number
}

export interface ChatTrustItem {
  /** What the item does. */
  readonly kind: ChatTrustKind
  /** Trigger of the hook, or name of the server or setting. Empty if the kind says it all. */
  readonly name: string
  /** Text from the file, at most 2,000 characters. Untrusted. */
  readonly text: string
  /** Number of characters beyond `text`. */
  readonly cut: number
}

/** In listing order: items that run something come first. */
export const CHAT_TRUST_KINDS = ['hook', 'server', 'env', 'allowed', 'setting', 'alias', 'prompt'] as const
export type ChatTrustKind = (typeof CHAT_TRUST_KINDS)[number]

/** `POST /api/chat/trust`: trusts the version of a project file that was shown. */
export interface ChatTrustBody {
  /** `path` of the `ChatTrust`. */
  readonly path: string
  /** `sha256` of the `ChatTrust`. */
  readonly sha256: string
  /** `prompt_sha256` of the `ChatTrust`. */
  readonly prompt_sha256: string | null
}

export type ChatTrustReply = Reply<{ readonly path: string }>

/** A slash command. */
export interface ChatCommand {
  /** Name without the slash. */
  readonly name: string
  /** Other names. */
  readonly aliases: readonly string[]
  /** Arguments, as help shows them. */
  readonly args: string
  /** What the command does. */
  readonly help: string
  /** `help` in Japanese. */
  readonly help_ja: string
  /** First arguments to offer as completions. */
  readonly words: readonly string[]
}

/**
 * `POST /api/chat`: opens a chat. A directory must be one of the options and never comes from a log: the first chat
 * that continues an imported session needs `directory`.
 */
export interface ChatBody {
  /** Session to continue; sessions of other agents are copied. Without it, a new chat starts. */
  readonly session?: string
  /** Directory in which the chat runs. */
  readonly directory?: string
  /** True if the user confirmed the directory after a `directory_needed` error. */
  readonly confirmed?: boolean
  /** Profile of the model server. */
  readonly profile?: string
  /** Model to use. */
  readonly model?: string
  /** `reference` of one of the agents in the options. */
  readonly agent?: string
}

export type ChatReply = Reply<ChatState>

/** Current state of a chat. */
export interface ChatState {
  /** Id of the chat, used in its addresses. */
  readonly id: string
  /** Id of its session in the index. */
  readonly session: string
  /** Directory in which the chat runs. */
  readonly directory: string
  /** Model in use. */
  readonly model: string
  /** Agent in use. */
  readonly agent: string
  /** True while a turn runs. */
  readonly running: boolean
  /** Use of the context window, as the server last counted it, or estimated. */
  readonly window: { readonly tokens: number; readonly percent: number }
  /** Names of the open tangents, innermost last. */
  readonly tangents: readonly (string | null)[]
  /** Start of the innermost tangent. */
  readonly tangent_since: string | null
  /** Checkpoints of the chat. */
  readonly checkpoints: readonly CheckpointItem[]
  /** Files attached to the next prompt, relative to the directory. */
  readonly attached: readonly string[]
  /** True if the last prompt has no answer. `/retry` sends it again. */
  readonly waiting: boolean
  /**
   * How commands of the model run: `sandboxed` without network and with few writable places, `open` like any program
   * of the user, `refused` not at all.
   */
  readonly sandbox: 'sandboxed' | 'open' | 'refused'
  /** Why a wanted sandbox is not available. */
  readonly sandbox_problem: string | null
  /** `sandbox_problem` in Japanese. */
  readonly sandbox_problem_ja: string | null
}

/** `POST /api/chat/:id/say`: a prompt, or a slash command. */
export interface ChatSay {
  /** The prompt or command. */
  readonly text: string
}

/** `POST /api/chat/:id/answer`: the answer to a `consent_needed` or `trust_needed` event. */
export interface ChatAnswer {
  /** Id of the event. */
  readonly id: string
  /** `words` cancels the call and sends `text` to the model instead. */
  readonly consent: ChatConsent
  /** Text for `words`. */
  readonly text?: string
}

export type ChatConsent = 'yes' | 'no' | 'trust' | 'words'

/** `GET /api/chat/:id/files`: paths in the chat directory that start with `q`. Folders end with a slash. */
export type ChatFilesReply = Reply<readonly string[]>

/** What a tool call is about to do, for the person who has to allow it. */
export interface ChatNeed {
  /** Risk of the call. */
  readonly level: 'nothing' | 'read-only' | 'changes' | 'dangerous'
  /** What the call does. */
  readonly summary: string
  /** `summary` in Japanese. */
  readonly summary_ja: string
  /** Why the call needs consent. */
  readonly reason?: string
  /** `reason` in Japanese. */
  readonly reason_ja?: string
  /** Shell command to run. */
  readonly command?: string
  /** Purpose of the call, according to the model. */
  readonly purpose?: string
  /** Arguments of an MCP tool, as indented JSON. */
  readonly arguments?: string
  /** Unified diff of the change, at most 100 KB. */
  readonly diff?: string
  /** Number of characters that `diff` leaves out. */
  readonly diff_omitted?: number
  /** Dangerous parts of the command, else of the arguments, else of the diff. In UTF-16 units. */
  readonly danger?: readonly ChatSpan[]
  /** A file that has changed since the model last read it, with the change. */
  readonly stale?: { readonly path: string; readonly diff: string }
}

export interface ChatSpan {
  /** First UTF-16 unit. */
  readonly start: number
  /** UTF-16 unit after the last one. */
  readonly end: number
}

/**
 * `GET /api/chat/:id/events`: server-sent events, named by their `kind`. Each has an id. A client that reconnects
 * with it as `Last-Event-ID` (or `?since=`) receives the events that it missed, or a `hello` with `reset`. Texts for
 * people are English; `ja` and `…_ja` are the same in Japanese.
 */
export type ChatEvent =
  /** Sent first, and when the chat moves to another point. With `reset`, discard what is shown and use `messages`. */
  | {
      readonly kind: 'hello'
      readonly reset: boolean
      readonly state: ChatState
      /** Earlier messages. Only with `reset`. */
      readonly messages: readonly MessageItem[]
      /** Number of messages before these. */
      readonly earlier: number
    }
  | { readonly kind: 'said'; readonly text: string; readonly at: string }
  | { readonly kind: 'started'; readonly model: string; readonly tokens: number; readonly window: number }
  | { readonly kind: 'delta'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  /** The model is writing a tool call. */
  | { readonly kind: 'calling'; readonly name: string }
  /** The request failed and is sent again. Discard the partial answer. */
  | {
      readonly kind: 'retry'
      readonly code: ChatFault
      readonly reason: string
      readonly reason_ja: string
      readonly attempt: number
      readonly wait_ms: number
    }
  | { readonly kind: 'usage'; readonly input: number; readonly output: number; readonly estimated: boolean }
  /** The answer is complete and saved. */
  | { readonly kind: 'entry'; readonly number: number; readonly interrupted: string | null }
  | { readonly kind: 'tool_asked'; readonly id: string; readonly name: string; readonly need: ChatNeed }
  | { readonly kind: 'consent_needed'; readonly id: string; readonly name: string; readonly need: ChatNeed }
  /** A project file would run commands. The chat waits for `answer` with `yes` or `no`. */
  | { readonly kind: 'trust_needed'; readonly id: string; readonly trust: ChatTrust }
  /** The request was answered, on this page or another one. */
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
  /** Output of a slash command. */
  | { readonly kind: 'output'; readonly text: string; readonly ja: string }
  | { readonly kind: 'checkpoint'; readonly tag: string }
  /** A text for the user to edit and send. */
  | { readonly kind: 'edit'; readonly text: string }
  | { readonly kind: 'error'; readonly text: string; readonly ja: string }
  | {
      readonly kind: 'ended'
      readonly how: ChatEnding
      readonly reason: string | null
      readonly reason_ja: string | null
    }
  /** The state may have changed. */
  | { readonly kind: 'state'; readonly state: ChatState }
  /** The server closed the chat. `POST /api/chat` opens it again. */
  | { readonly kind: 'closed' }

/** Why a request to the model server failed. */
export type ChatFault = 'status' | 'connection' | 'timeout' | 'garbage' | 'aborted' | 'rounds' | 'unknown'

/** Subject of a notice. */
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
  | 'empty_answer'
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
  /** Events of a long turn were dropped; a page that connects later does not receive them. */
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
