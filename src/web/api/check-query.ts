/** Checks a query before it is sent: while it is being typed it is often incomplete (`agent:`, `"two wor`). */
import { queryFaultInJapanese } from '../../model/code-texts.ts'
import { parseQueryText } from '../../search/query/query-parser.ts'
import type { RequestProblem } from './client.ts'

const SEARCHABLE = /[\p{L}\p{M}\p{N}\p{Extended_Pictographic}]/u

/** The error with which the server would reject it. */
export function checkQuery(text: string | undefined): RequestProblem | undefined {
  if (text === undefined) return undefined
  const parsed = parseQueryText(text, new Date(), (term) => SEARCHABLE.test(term.text))
  if (parsed.kind === 'query') return undefined
  const { what, advice } = parsed
  return { code: 'invalid_query', detail: `${what}: ${advice}.`, detail_ja: queryFaultInJapanese(parsed) }
}
