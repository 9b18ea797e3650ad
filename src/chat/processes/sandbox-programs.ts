/** The sandbox programs: arguments of bubblewrap (Linux), profile of seatbelt (macOS), from the same bounds. */
import { lstatSync, realpathSync, type Stats } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, sep } from 'node:path'
import type { EnvironmentVariables } from './process-group.ts'

export interface SandboxBounds {
  /** The project: commands may write here. */
  readonly cwd: string
  /** Temp of the sandbox. */
  readonly temp: string
  /** fumibako's data directory, which is hidden. */
  readonly data: string
  readonly home: string
  readonly variables: EnvironmentVariables
}

/** What the sandboxed program sees at a path. Deeper paths are mounted later, on top of the others. */
interface Mount {
  readonly at: string
  readonly args: readonly string[]
}

/** Paths are resolved again for each command: the project may have become a git repository meanwhile. */
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
    // The user namespace lets ordinary users have all the others; root does without where there is none.
    '--unshare-all',
    '--die-with-parent',
    '--new-session',
    ...['--cap-drop', 'ALL'],
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    // Root owns these also without any capability, and /proc/sys/kernel/core_pattern names a program that the kernel runs.
    ...['sys', 'sysrq-trigger', 'irq', 'bus'].flatMap((name) => ['--ro-bind-try', `/proc/${name}`, `/proc/${name}`]),
    ...mounts.toSorted((a, b) => pathDepth(a.at) - pathDepth(b.at)).flatMap(({ args }) => args),
    ...(data === undefined || data === cwd ? [] : ['--remount-ro', data]),
    ...['--chdir', cwd],
    '--',
  ]
}

/** A project in our own data directory cannot be written: agents and settings in it are obeyed outside of the sandbox. */
export function isInDataDirectory({ cwd, data }: Pick<SandboxBounds, 'cwd' | 'data'>): boolean {
  const hidden = resolveLinks(data)
  return hidden !== undefined && isWithin(resolveLinks(cwd) ?? cwd, hidden)
}

/**
 * Temp is the conversation's own. `/run` and the real temp hold the sockets of tmux, D-Bus, X11 and Docker, by which a command
 * could have something run outside: cutting the network does not close those.
 */
function machineMounts({ cwd, home, temp, variables }: SandboxBounds): readonly Mount[] {
  const realHome = resolveLinks(home)
  const own = resolveLinks(tmpdir())
  const ownTemp = own === undefined || (realHome !== undefined && isWithin(realHome, own)) ? [] : [own]
  const temps = [...['/tmp', '/var/tmp'].flatMap((path) => resolveLinks(path) ?? []), ...ownTemp]
  const isHidden = realHome !== undefined && temps.some((path) => isWithin(realHome, path))
  return [
    ...[...new Set(temps)].map((at) => ({ at, args: ['--bind', temp, at] })),
    // A home below temp is seen nevertheless.
    ...(isHidden ? [bindMount('--ro-bind', realHome)] : []),
    ...(resolveLinks('/run') === '/run' ? [{ at: '/run', args: ['--tmpfs', '/run'] }] : []),
    // NixOS has its programs there.
    ...['/run/current-system', '/run/wrappers', '/run/opengl-driver'].map((at) => bindMount('--ro-bind-try', at)),
    ...findAgentSockets([cwd, home], home, variables).map((at) => ({ at, args: ['--ro-bind', '/dev/null', at] })),
  ]
}

/** Sockets by which agents take orders, where they lie elsewhere. @param seen folders that are seen also below temp */
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
 * What git and this program would run or obey later, outside of the sandbox, stays as it is. `.git` is mounted onto itself:
 * a mount point cannot be renamed, so no other `.git` can take its place.
 */
function repositoryMounts(cwd: string): readonly Mount[] {
  // A link cannot be mounted: what it leads to in the project is, and `renamePlantedFiles` notices where the link is replaced.
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

/** `commondir` and `config.worktree` name further configuration that git reads. */
export const GUARDED_GIT_FILES = ['hooks', 'config', 'config.worktree', 'commondir'] as const

const bindMount = (option: '--bind' | '--ro-bind' | '--ro-bind-try', at: string): Mount => ({
  at,
  args: [option, at, at],
})

const pathDepth = (path: string): number => (path === sep ? 0 : path.split(sep).length)

const isWithin = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder === sep ? sep : folder + sep)

/** Links are not followed. */
export function lstatOf(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch {
    return undefined
  }
}

/** With links followed; nothing where there is no such path. */
function resolveLinks(path: string | undefined): string | undefined {
  if (path === undefined || !path.startsWith(sep) || dirname(path) === path) return undefined
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

/** Everything that is not named is denied: the network, other programs' services, Apple events, launchd. */
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

/** Later rules go before earlier ones. @param bounds with links followed: the kernel compares real paths */
export function buildSeatbeltProfile({ cwd, temp, data }: Pick<SandboxBounds, 'cwd' | 'temp' | 'data'>): string {
  const git = join(cwd, '.git')
  return `${BASE_PROFILE}
(allow file-write* (subpath ${quotePath(cwd)}) (subpath ${quotePath(temp)}))
(deny file-write* (literal ${quotePath(git)}) (subpath ${quotePath(join(git, 'hooks'))}) (literal ${quotePath(join(git, 'config'))}) (literal ${quotePath(join(git, 'config.worktree'))}) (literal ${quotePath(join(git, 'commondir'))}) (subpath ${quotePath(join(cwd, '.amazonq'))}))
(deny file-read* file-write* (subpath ${quotePath(data)}))
`
}

/** A string of the profile's language. Throws on control characters: nobody has shown how they are to be written. */
function quotePath(path: string): string {
  if (/[\u0000-\u001f\u007f]/.test(path)) throw new Error('a path with control characters cannot be put into a profile')
  return `"${path.replaceAll(/[\\"]/g, '\\$&')}"`
}
