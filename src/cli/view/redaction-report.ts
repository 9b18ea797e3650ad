/** What was taken out of an export, by kind. Never what it was. */
import type { Redacted } from '../../convert/redact/redact.ts'
import { say } from '../language.ts'
import { count, plural } from './table.ts'

export function redactionReport({ redactions, images }: Redacted): string {
  const kinds = redactions.map(({ kind, distinct, count: places }) =>
    say(
      `${kind} ${count(distinct)} (${plural(places, 'place')})`,
      `${kind} ${count(distinct)} 種類（${count(places)} か所）`,
    ),
  )
  const taken =
    kinds.length === 0
      ? say('nothing was found to take out', '取り除くものはありませんでした')
      : say(`taken out: ${kinds.join(', ')}`, `取り除いたもの：${kinds.join('、')}`)
  const left =
    images > 0 ? say(`; ${plural(images, 'image')} not looked into`, `。画像 ${count(images)} 件は調べていません`) : ''
  return `${taken}${left}\n`
}
