/** Measures a part of the library in a separate process, which can trigger garbage collection between runs. */
import { spawnSync } from 'node:child_process'

/** @returns {{ note: string, rows: import('./targets.mjs').Row[] }} */
export function benchLibrary(name, bench) {
  const script = `
    import { ${bench} } from ${JSON.stringify(new URL(`${name}.mjs`, import.meta.url).href)}
    console.log(JSON.stringify(await ${bench}()))`
  return { note: 'In one process, the fastest of several runs in turns.', rows: inOwnProcess(script, name) }
}

export function inOwnProcess(script, what) {
  const { stdout, status } = spawnSync(process.execPath, ['--expose-gc', '--input-type=module', '-e', script], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (status !== 0) throw new Error(`the benchmark of ${what} failed`)
  return JSON.parse(stdout)
}
