/** Checks the names given to `--trust-tools`, because a name that matches no tool allows nothing. */
import { AppError } from '../../../model/error.ts'
import { nearestName } from '../../../model/nearest-name.ts'
import type { ChatTool } from '../tool.ts'
import { BUILTIN_SERVER, matchesTool, toolLabel } from './permission.ts'

/**
 * Throws `bad_usage` for the first name that matches nothing. Servers start later, so of `@server/tool` only the server
 * is checked.
 */
export function checkTrustedNames(
  names: readonly string[],
  tools: readonly Pick<ChatTool, 'name' | 'hostName' | 'origin'>[],
  servers: Iterable<string>,
): void {
  const serverTools = [...servers].map((origin) => ({ name: '', hostName: '', origin }))
  const labels = [...tools.map(toolLabel), ...serverTools.map(({ origin }) => `@${origin}`)]
  for (const name of names) {
    const server = /^@[^/]*/.exec(name)?.[0]
    const isKnown =
      tools.some((tool) => matchesTool(name, tool)) || serverTools.some((one) => matchesTool(server ?? name, one))
    if (isKnown || server === `@${BUILTIN_SERVER}`) continue
    const nearest = nearestName(server ?? name, labels)
    throw new AppError(
      'bad_usage',
      `Unknown tool "${name}" in --trust-tools.${nearest === undefined ? '' : ` Did you mean ${nearest}?`} Available: ${labels.join(', ')}`,
      `--trust-tools の「${name}」というツールはありません。${nearest === undefined ? '' : `${nearest} のことですか？`}使えるもの: ${labels.join('、')}`,
    )
  }
}
