/** The profile of `sandbox-exec` on macOS: the same bounds as on Linux, in Apple's language for them. */
import { join } from 'node:path'
import type { SandboxBounds } from './sandbox-bounds.ts'

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
