/** Talks to the system's service manager: systemd, launchd or Task Scheduler. */
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { writeFileAtomically } from '../../lib/files/atomic-file.ts'
import { isFile } from '../../lib/files/safe-fs.ts'
import { findProgram } from '../../lib/programs.ts'
import { AppError } from '../../model/error.ts'
import { LAUNCHD_LABEL, SERVICE_NAME, type ServiceDefinition, TASK_NAME } from './definition.ts'

export interface ServiceStatus {
  readonly installed: boolean
  /** Undefined where the manager cannot be asked. */
  readonly running: boolean | undefined
  /** Why the manager cannot be asked, in its words. */
  readonly problem?: string
}

interface Answer {
  readonly ok: boolean
  readonly text: string
}

const MANAGER_TIMEOUT_MS = 20_000

function ask(program: string, ...args: readonly string[]): Answer {
  const path = findProgram(program)
  if (path === undefined) return { ok: false, text: `${program} is not installed` }
  const { status, stdout, stderr, error } = spawnSync(path, args, { encoding: 'utf8', timeout: MANAGER_TIMEOUT_MS })
  return { ok: status === 0, text: error ? error.message : `${stdout}${stderr}`.trim() }
}

/** `gui/<user>` is the session in which launchd runs agents of a user. */
const launchdDomain = (): string => `gui/${process.getuid?.() ?? 0}`

/** Commands in order; the service runs when all have succeeded. */
const STEPS = {
  systemd: {
    install: () => [
      ['systemctl', '--user', 'daemon-reload'],
      ['systemctl', '--user', 'enable', SERVICE_NAME],
      ['systemctl', '--user', 'restart', SERVICE_NAME],
    ],
    uninstall: () => [['systemctl', '--user', 'disable', '--now', SERVICE_NAME]],
    status: () => ['systemctl', '--user', 'is-active', SERVICE_NAME],
  },
  launchd: {
    install: (path: string) => [['launchctl', 'bootstrap', launchdDomain(), path]],
    uninstall: () => [['launchctl', 'bootout', `${launchdDomain()}/${LAUNCHD_LABEL}`]],
    status: () => ['launchctl', 'print', `${launchdDomain()}/${LAUNCHD_LABEL}`],
  },
  task: {
    install: (path: string) => [
      ['schtasks', '/Create', '/F', '/TN', TASK_NAME, '/XML', path],
      ['schtasks', '/Run', '/TN', TASK_NAME],
    ],
    uninstall: () => [
      ['schtasks', '/End', '/TN', TASK_NAME],
      ['schtasks', '/Delete', '/F', '/TN', TASK_NAME],
    ],
    status: () => ['schtasks', '/Query', '/TN', TASK_NAME, '/FO', 'LIST'],
  },
} as const

/** Writes the definition and starts the service. Throws AppError with nothing installed. */
export function installService(definition: ServiceDefinition): void {
  const { kind, path, content } = definition
  if (kind === 'launchd' && isFile(path)) for (const step of STEPS.launchd.uninstall()) ask(...toCommand(step))
  // Task Scheduler reads UTF-16 with a byte order mark.
  const bytes = kind === 'task' ? Buffer.from(`\ufeff${content}`, 'utf16le') : Buffer.from(content)
  writeFileAtomically(path, [bytes], { mode: 0o600, folders: 0o700 })
  for (const step of STEPS[kind].install(path)) {
    const { ok, text } = ask(...toCommand(step))
    if (ok) continue
    rmSync(path, { force: true })
    throw new AppError(
      'cannot_write',
      `The service was not installed. "${step.join(' ')}" failed: ${text}. Without a service manager, run fumi backup --watch yourself.`,
      `サービスを登録できませんでした。「${step.join(' ')}」の結果: ${text}。サービス管理がない環境では fumi backup --watch を自分で実行してください。`,
    )
  }
}

/** @returns whether there was a service */
export function uninstallService({ kind, path }: ServiceDefinition): boolean {
  if (!isFile(path)) return false
  for (const step of STEPS[kind].uninstall()) ask(...toCommand(step))
  rmSync(path, { force: true })
  if (kind === 'systemd') ask('systemctl', '--user', 'daemon-reload')
  return true
}

export function serviceStatus({ kind, path }: ServiceDefinition): ServiceStatus {
  if (!isFile(path)) return { installed: false, running: false }
  const { ok, text } = ask(...toCommand(STEPS[kind].status()))
  if (kind === 'launchd') return { installed: true, running: ok && /state = running/.test(text) }
  if (kind === 'task') return { installed: true, running: ok && /:\s+Running/.test(text) }
  const isKnown = /^(?:active|activating|inactive|failed|deactivating)$/m.test(text)
  return { installed: true, running: isKnown ? ok : undefined, ...(!isKnown && { problem: text }) }
}

const toCommand = (words: readonly string[]): [string, ...string[]] => [words[0] ?? '', ...words.slice(1)]
