/** Finds the agents: every folder beside this file that holds an `agent` module. The only list there is. */
import { readdirSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Agent } from './agent.ts'

/** Modules carry `.ts` in the source tree and `.js` in the built one. */
const suffix = extname(fileURLToPath(import.meta.url))

let loading: Promise<readonly Agent[]> | undefined

export function allAgents(): Promise<readonly Agent[]> {
  loading ??= load()
  return loading
}

async function load(): Promise<readonly Agent[]> {
  const here = new URL('.', import.meta.url)
  const folders = readdirSync(here, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
  const modules = await Promise.all(
    folders.map((name) => import(new URL(`${name}/agent${suffix}`, here).href) as Promise<{ default: Agent }>),
  )
  return modules.map((module) => module.default)
}
