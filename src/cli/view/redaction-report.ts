/** What was taken out of an export, by kind. Never what it was. */
import type { Redacted } from '../../convert/redact/redact.ts'
import { count, plural } from './table.ts'

export function redactionReport({ redactions, images }: Redacted): string {
  const kinds = redactions.map(
    ({ kind, distinct, count: places }) => `${kind} ${count(distinct)} (${plural(places, 'place')})`,
  )
  const taken = kinds.length === 0 ? 'nothing was found to take out' : `taken out: ${kinds.join(', ')}`
  const left = images > 0 ? `; ${plural(images, 'image')} not looked into` : ''
  return `${taken}${left}\n`
}
