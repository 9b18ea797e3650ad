/** Opens an address in the user's browser, where there is a screen to show it on. */
import { spawn } from 'node:child_process'
import { findProgram } from '../../../lib/programs.ts'

export async function openBrowser(address: string): Promise<void> {
  const [name, ...args] = browserCommand(address)
  const program = name === undefined ? undefined : findProgram(name)
  if (program === undefined) return
  await new Promise<void>((done) => {
    const child = spawn(program, args, { stdio: 'ignore', detached: true })
    // The link was printed: whoever has no such program can follow that.
    child.once('error', () => done())
    child.once('spawn', () => done())
    child.unref()
  })
}

function browserCommand(address: string): readonly string[] {
  if (process.platform === 'darwin') return ['open', address]
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', address]
  const hasScreen = Boolean(process.env['DISPLAY'] || process.env['WAYLAND_DISPLAY'])
  return hasScreen ? ['xdg-open', address] : []
}
