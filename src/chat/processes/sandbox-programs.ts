/** Arguments for bubblewrap (Linux) and profile for seatbelt (macOS), built from the same bounds. */
import { lstatSync, realpathSync, type Stats } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, sep } from 'node:path'
import type { EnvironmentVariables } from './process-group.ts'

export interface SandboxBounds {
  /** The project directory, which is writable. */
  readonly cwd: string
  /** Temporary folder of the sandbox. */
  readonly temp: string
  /** fumibako's data directory, which is hidden. */
  readonly data: string
  readonly home: string
  readonly variables: EnvironmentVariables
}

/** What the sandboxed program sees at a path. Deeper paths are mounted later, on top. */
interface Mount {
  readonly at: string
  readonly args: readonly string[]
}

/** Resolves paths again for each command, because the project may have become a git repository. */
export function bubblewrapArgs(bounds: SandboxBounds): readonly string[] {
  const cwd = realpathSync(bounds.cwd)
  const data = resolveLinks(bounds.data)
  const mounts = [
    ...machineMounts(bounds),
    bindMount(isInDataDirectory(bounds) ? '--ro-bind' : '--bind', cwd),
    ...repositoryMounts(cwd),
    ...(data === undefined || data === cwd ? [] : [{ at: data, args: ['--tmpfs', data] }]),
  ]
  return [
    // The user namespace lets ordinary users create the other namespaces; root does not need one.
    '--unshare-all',
    '--die-with-parent',
    '--new-session',
    ...['--cap-drop', 'ALL'],
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    // Root owns these files even without capabilities, and /proc/sys/kernel/core_pattern names a program that the
    // kernel runs.
    ...['sys', 'sysrq-trigger', 'irq', 'bus'].flatMap((name) => ['--ro-bind-try', `/proc/${name}`, `/proc/${name}`]),
    ...mounts.toSorted((a, b) => pathDepth(a.at) - pathDepth(b.at)).flatMap(({ args }) => args),
    ...(data === undefined || data === cwd ? [] : ['--remount-ro', data]),
    ...['--chdir', cwd],
    '--',
  ]
}

/**
 * A project inside our data directory is not writable, because its agents and settings take effect outside the sandbox.
 */
export function isInDataDirectory({ cwd, data }: Pick<SandboxBounds, 'cwd' | 'data'>): boolean {
  const hidden = resolveLinks(data)
  return hidden !== undefined && isWithin(resolveLinks(cwd) ?? cwd, hidden)
}

/**
 * The temporary folder belongs to the conversation. `/run` and the real temporary folder contain sockets of tmux,
 * D-Bus, X11 and Docker, through which a command could run something outside; blocking the network does not block
 * sockets.
 */
function machineMounts({ cwd, home, temp, variables }: SandboxBounds): readonly Mount[] {
  const realHome = resolveLinks(home)
  const own = resolveLinks(tmpdir())
  const ownTemp = own === undefined || (realHome !== undefined && isWithin(realHome, own)) ? [] : [own]
  const temps = [...['/tmp', '/var/tmp'].flatMap((path) => resolveLinks(path) ?? []), ...ownTemp]
  const isHidden = realHome !== undefined && temps.some((path) => isWithin(realHome, path))
  return [
    ...[...new Set(temps)].map((at) => ({ at, args: ['--bind', temp, at] })),
    // A home directory inside the temporary folder stays visible.
    ...(isHidden ? [bindMount('--ro-bind', realHome)] : []),
    ...(resolveLinks('/run') === '/run' ? [{ at: '/run', args: ['--tmpfs', '/run'] }] : []),
    // Location of programs on NixOS.
    ...['/run/current-system', '/run/wrappers', '/run/opengl-driver'].map((at) => bindMount('--ro-bind-try', at)),
    ...findAgentSockets([cwd, home], home, variables).map((at) => ({ at, args: ['--ro-bind', '/dev/null', at] })),
  ]
}

/**
 * Sockets of agents (such as ssh-agent) in other places. @param seen folders that are visible although they are inside
 * the temporary folder
 */
function findAgentSockets(
  seen: readonly string[],
  home: string,
  variables: SandboxBounds['variables'],
): readonly string[] {
  const named = [variables['SSH_AUTH_SOCK'], variables['DOCKER_HOST']?.replace(/^unix:\/\//, '')]
  const defaults = [
    '.docker/run/docker.sock',
    '.docker/desktop/docker.sock',
    '.gnupg/S.gpg-agent',
    '.gnupg/S.gpg-agent.ssh',
  ]
  const all = [...named, ...defaults.map((path) => join(home, path))].flatMap((path) => resolveLinks(path) ?? [])
  const isSeen = (path: string): boolean =>
    !/^\/(?:run|tmp|var\/tmp)\//.test(path) || seen.some((folder) => isWithin(path, resolveLinks(folder) ?? folder))
  return [...new Set(all)].filter((path) => lstatOf(path)?.isSocket() && isSeen(path))
}

/**
 * Protects files that git or fumibako would later execute or obey outside the sandbox. `.git` is mounted onto itself,
 * because a mount point cannot be renamed and replaced.
 */
function repositoryMounts(cwd: string): readonly Mount[] {
  // A link cannot be a mount point. Its target in the project is mounted, and `renamePlantedFiles` detects a replaced
  // link.
  const git = resolveLinks(join(cwd, '.git')) ?? join(cwd, '.git')
  const kind = lstatOf(git)
  const inside = GUARDED_GIT_FILES.flatMap((name) => resolveLinks(join(git, name)) ?? []).filter((path) => {
    const found = lstatOf(path)
    return isWithin(path, cwd) && (found?.isFile() || found?.isDirectory())
  })
  const agents = join(cwd, '.amazonq')
  return [
    ...(kind?.isDirectory() && isWithin(git, cwd) ? [bindMount('--bind', git)] : []),
    ...(kind?.isDirectory() ? inside.map((path) => bindMount('--ro-bind', path)) : []),
    ...(kind?.isFile() && isWithin(git, cwd) ? [bindMount('--ro-bind', git)] : []),
    ...(lstatOf(agents)?.isDirectory() ? [bindMount('--ro-bind', agents)] : []),
  ]
}

/** `commondir` and `config.worktree` refer to further configuration that git reads. */
export const GUARDED_GIT_FILES = ['hooks', 'config', 'config.worktree', 'commondir'] as const

const bindMount = (option: '--bind' | '--ro-bind' | '--ro-bind-try', at: string): Mount => ({
  at,
  args: [option, at, at],
})

const pathDepth = (path: string): number => (path === sep ? 0 : path.split(sep).length)

const isWithin = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder === sep ? sep : folder + sep)

/** Does not follow links. */
export function lstatOf(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch {
    return undefined
  }
}

/** Resolves links. Undefined if the path does not exist. */
function resolveLinks(path: string | undefined): string | undefined {
  if (path === undefined || !path.startsWith(sep) || dirname(path) === path) return undefined
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

/** Denies everything not listed: the network, services of other programs, Apple events, launchd. */
const BASE_PROFILE = `(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow ipc-posix-sem)
(allow pseudo-tty)
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))
(allow file-read*)
(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/ptmx") (regex #"^/dev/ttys[0-9]+$"))
(allow file-ioctl (literal "/dev/tty") (literal "/dev/ptmx") (regex #"^/dev/ttys[0-9]+$"))`

/** Later rules take precedence. @param bounds with links resolved, because the kernel compares real paths */
export function buildSeatbeltProfile({ cwd, temp, data }: Pick<SandboxBounds, 'cwd' | 'temp' | 'data'>): string {
  const git = join(cwd, '.git')
  return `${BASE_PROFILE}
(allow file-write* (subpath ${quotePath(cwd)}) (subpath ${quotePath(temp)}))
(deny file-write* (literal ${quotePath(git)}) (subpath ${quotePath(join(git, 'hooks'))}) (literal ${quotePath(join(git, 'config'))}) (literal ${quotePath(join(git, 'config.worktree'))}) (literal ${quotePath(join(git, 'commondir'))}) (subpath ${quotePath(join(cwd, '.amazonq'))}))
(deny file-read* file-write* (subpath ${quotePath(data)}))
`
}

/** A string in the profile's language. Throws on control characters, for which no escape is documented. */
function quotePath(path: string): string {
  if (/[\u0000-\u001f\u007f]/.test(path)) throw new Error('a path with control characters cannot be put into a profile')
  return `"${path.replaceAll(/[\\"]/g, '\\$&')}"`
}
