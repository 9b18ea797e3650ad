/** What was taken out of an export, by kind. Never what it was. */
import type { RedactionResult } from '../../convert/redact/redact.ts'
import { say } from '../language.ts'
import { formatCount, plural } from './table.ts'

export function renderRedactionReport({ redactions, images }: RedactionResult): string {
  const kinds = redactions.map(({ kind, distinct, count: places }) =>
    say(
      `${kind} ${formatCount(distinct)} (${plural(places, 'place')})`,
      `${kind} ${formatCount(distinct)} 種類（${formatCount(places)} か所）`,
    ),
  )
  const summary =
    kinds.length === 0
      ? say('nothing was found to take out', '取り除くものはありませんでした')
      : say(`taken out: ${kinds.join(', ')}`, `取り除いたもの：${kinds.join('、')}`)
  const imagesNote =
    images > 0
      ? say(`; ${plural(images, 'image')} not looked into`, `。画像 ${formatCount(images)} 件は調べていません`)
      : ''
  return `${summary}${imagesNote}\n`
}
