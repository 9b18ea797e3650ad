/** What a user sets up on the page: imported logs, further folders, model servers. */
import type { Reply } from './envelope.ts'

/** `POST /api/imports?name=`: the body is the log itself. */
export type ImportReply = Reply<ImportItem>

export interface ImportItem {
  /** Id of the agent that wrote the log. */
  readonly agent: string
  /** Where the file is stored, to show and copy. */
  readonly path: string
  /** Ids of its sessions, at most 50. */
  readonly sessions: readonly string[]
}

/** `POST /api/agents/:id/folders`: adds a folder. */
export type FolderReply = Reply<{ readonly agent: string; readonly path: string }>

export interface FolderBody {
  /** Absolute path, or one that starts with `~/`. */
  readonly path: string
}

/** `POST /api/profiles`: adds or changes a model server. */
export type ProfileReply = Reply<{ readonly name: string; readonly url: string; readonly model: string }>

export interface ProfileBody {
  /** Name of the profile. */
  readonly name: string
  /** Address of an OpenAI-compatible server. */
  readonly url: string
  /** Name of the model. */
  readonly model: string
  /** API key, if the server needs one. */
  readonly key?: string
}
