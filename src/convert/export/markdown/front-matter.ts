/** What is known of a session, as YAML. */
import { toPrintable } from '../../../lib/text.ts'
import { isZeroUsage } from '../../../model/usage.ts'
import type { ExportInput, ExportOptions } from '../material.ts'
import { exportTitleOf } from '../material.ts'

type YamlValue = string | number | boolean | readonly string[] | { readonly [key: string]: number } | undefined

/** JSON is YAML, so that no word can be anything but a word. */
export function renderFrontMatter(input: ExportInput, { turns, timeZone = 'UTC' }: ExportOptions): string {
  const { session, mark: annotation, outline } = input
  const { usage } = outline
  const fields: Readonly<Record<string, YamlValue>> = {
    title: exportTitleOf(input),
    session: session.id,
    agent: session.agent,
    agent_version: session.agent_version,
    models: session.models,
    started_at: session.started_at,
    last_at: outline.last_at,
    time_zone: timeZone,
    cwd: session.cwd,
    branch: session.git?.branch,
    commit: session.git?.commit_hash,
    repository: session.git?.repository_url,
    parent: session.parent,
    relation: session.relation,
    turns: outline.turns,
    turns_exported: turns && `${turns.from}..${Math.min(turns.to, outline.turns)}`,
    tool_calls: outline.tools,
    tool_errors: outline.errors,
    tokens: isZeroUsage(usage)
      ? undefined
      : {
          input: usage.input_tokens,
          cached_input: usage.cached_input_tokens,
          output: usage.output_tokens,
          reasoning_output: usage.reasoning_output_tokens,
          total: usage.total_tokens,
        },
    encrypted_parts_left_out: outline.encrypted > 0 ? outline.encrypted : undefined,
    name: annotation?.name ?? undefined,
    starred: annotation?.starred || undefined,
    tags: annotation && annotation.tags.length > 0 ? annotation.tags : undefined,
    note: annotation?.note ?? undefined,
  }
  const lines = Object.entries(fields).flatMap(([key, value]) =>
    value === undefined ? [] : `${key}: ${toYaml(value)}\n`,
  )
  return `---\n${lines.join('')}---\n`
}

/** Readers that know no front matter show it as Markdown: in a value they find no sign of it. */
const escaped = (sign: string): string => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`

/** With a space behind each comma and colon, as people write it. */
function toYaml(value: Exclude<YamlValue, undefined>): string {
  if (typeof value === 'string') return JSON.stringify(toPrintable(value)).replaceAll(/[<>&![\]`*_|]/g, escaped)
  if (typeof value !== 'object') return String(value)
  if (Array.isArray(value)) return `[${value.map(toYaml).join(', ')}]`
  return `{ ${Object.entries(value)
    .map(([key, one]) => `${key}: ${one}`)
    .join(', ')} }`
}
