/** What is backed up: what an agent says its program does to old conversations, and the user's settings. */
import { sep } from 'node:path'
import type { Agent, HostEnvironment, Source } from '../agents/agent.ts'
import type { AgentId } from '../model/ids.ts'
import { KEEPS, type Retention } from '../model/retention.ts'
import { firstSession } from './first-session.ts'

export interface BackupSettings {
  /** `volatile`: what programs overwrite or delete. */
  readonly keep: 'volatile' | 'all' | 'none'
  /** By agent; `auto` follows `keep`. */
  readonly agents: ReadonlyMap<AgentId, { readonly keep: 'auto' | 'all' | 'none' }>
  /** Directories whose conversations are always backed up, and never. */
  readonly projects: readonly string[]
  readonly skip: readonly string[]
  /** Files are added until the backup has this many bytes. */
  readonly limit?: number
}

/** Why something is backed up or not. */
export type BackupReason =
  /** Its program overwrites or deletes it. */
  | 'overwrites'
  | 'deletes'
  /** Its program keeps it. */
  | 'keeps'
  /** The setting `keep`, `agents.<id>.keep`, `backup.projects` or `backup.skip`. */
  | 'setting'
  | 'agent_setting'
  | 'project_setting'

export interface BackupDecision {
  readonly kept: boolean
  readonly why: BackupReason
}

export class BackupPolicy {
  readonly settings: BackupSettings
  readonly #environment: HostEnvironment
  /** A session stays in its project, so each is read once. */
  readonly #projects = new Map<string, string | undefined>()

  constructor(settings: BackupSettings, environment: HostEnvironment) {
    this.settings = settings
    this.#environment = environment
  }

  retentionOf(agent: Agent): Retention {
    return agent.retention?.(this.#environment) ?? KEEPS
  }

  /** For sessions in no project of the settings. */
  decide(agent: Agent, id: AgentId = agent.id): BackupDecision {
    const own = this.settings.agents.get(id)?.keep ?? 'auto'
    if (own !== 'auto') return { kept: own === 'all', why: 'agent_setting' }
    const { keep } = this.settings
    if (keep === 'none') return { kept: false, why: 'setting' }
    const { kind } = this.retentionOf(agent)
    if (kind !== 'keeps') return { kept: true, why: kind }
    return keep === 'all' ? { kept: true, why: 'setting' } : { kept: false, why: 'keeps' }
  }

  async decideFor(agent: Agent, source: Source): Promise<BackupDecision> {
    const { projects, skip } = this.settings
    if (projects.length > 0 || skip.length > 0) {
      const project = await this.#projectOf(agent, source)
      if (project !== undefined && isBelowAny(project, skip)) return { kept: false, why: 'project_setting' }
      if (project !== undefined && isBelowAny(project, projects)) return { kept: true, why: 'project_setting' }
    }
    return this.decide(agent, source.agent)
  }

  async #projectOf(agent: Agent, source: Source): Promise<string | undefined> {
    const key = `${source.path}\n${source.key ?? ''}\n${source.key === undefined ? '' : source.fingerprint}`
    if (this.#projects.has(key)) return this.#projects.get(key)
    const project = (await firstSession(agent, source))?.cwd
    this.#projects.set(key, project)
    return project
  }
}

const isBelowAny = (path: string, folders: readonly string[]): boolean =>
  folders.some((folder) => path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep))
