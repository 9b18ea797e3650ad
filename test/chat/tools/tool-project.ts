/** Calls tools like a conversation: checks, then runs. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { SeenFiles } from '../../../src/chat/tools/files/seen-files.ts'
import type { ChatToolCall, ToolRunContext, ToolRunResult } from '../../../src/chat/tools/tool.ts'
import { buildToolSet, createBuiltInTools, type ToolSet } from '../../../src/chat/tools/tool-set.ts'
import type { JsonValue } from '../../../src/lib/json/lossless.ts'
import { tempFolder } from '../../support/codex-log.ts'

export interface ToolProject {
  readonly cwd: string
  readonly home: string
  readonly seen: SeenFiles
  readonly box: ToolSet
  write(path: string, text: string | Uint8Array): string
  read(path: string): string
  /** Throws what a check rejects. */
  check(name: string, args: JsonValue): Promise<ChatToolCall>
  run(name: string, args: JsonValue, more?: Partial<ToolRunContext>): Promise<ToolRunResult>
}

export function toolProject(seen = new SeenFiles()): ToolProject {
  const root = tempFolder()
  const place = { cwd: join(root, 'work'), home: join(root, 'home') }
  for (const folder of [place.cwd, place.home]) mkdirSync(folder)
  const box = buildToolSet({ builtIn: createBuiltInTools(seen) })
  const check: ToolProject['check'] = async (name, args) => {
    const checked = await box.find(name)?.check(args, place)
    if (!checked?.ok) throw new Error(checked?.error ?? `no tool ${name}`)
    return checked.call
  }
  return {
    ...place,
    seen,
    box,
    write(path, text) {
      const full = join(place.cwd, path)
      mkdirSync(dirname(full), { recursive: true })
      writeFileSync(full, text)
      return full
    },
    read: (path) => readFileSync(join(place.cwd, path), 'utf8'),
    check,
    run: async (name, args, more) =>
      (await check(name, args)).run({ ...place, signal: new AbortController().signal, ...more }),
  }
}

export const textIn = ({ content }: ToolRunResult): string =>
  content.map((block) => ('Text' in block ? block.Text : JSON.stringify(block.Json))).join('\n')
