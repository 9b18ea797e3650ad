/** What commands that redact share: the option, the redactor of this machine, and the report. */
import type { App } from '../app.ts'
import type { RedactionResult, Redactor } from '../redact/redactor.ts'
import type { OptionDefinition } from './define-command.ts'
import { say } from './language.ts'
import { formatCount, plural } from './view/table.ts'

export const REDACT_OPTION: OptionDefinition = [
  '--redact',
  'remove secrets, user names, home directories and e-mail addresses, and report how many',
  '秘密情報・ユーザー名・ホームディレクトリー・メールアドレスを取り除き、件数を示す',
]

/** For output that may be shared. Loads the rules only when they are needed. */
export async function createRedactor(environment: App['environment']): Promise<Redactor> {
  const [{ Redactor: Secrets }, { peopleOnMachine }] = await Promise.all([
    import('../redact/redactor.ts'),
    import('../redact/people.ts'),
  ])
  return new Secrets(peopleOnMachine(environment))
}

/** For a conversation that the same user continues: people and directories stay. */
export async function createSecretRedactor(): Promise<Redactor> {
  const [{ Redactor: Secrets }, { KEEP_PEOPLE }] = await Promise.all([
    import('../redact/redactor.ts'),
    import('../redact/people.ts'),
  ])
  return new Secrets(KEEP_PEOPLE)
}

/** Counts redactions by kind. Never shows what was redacted. */
export function renderRedactionReport({ redactions, images }: RedactionResult): string {
  const kinds = redactions.map(({ kind, distinct, count: places }) =>
    say(
      `${kind} ${formatCount(distinct)} (${plural(places, 'place')})`,
      `${kind} ${formatCount(distinct)} 種類（${formatCount(places)} か所）`,
    ),
  )
  const summary =
    kinds.length === 0
      ? say('redacted: nothing found', '取り除いたもの：なし')
      : say(`redacted: ${kinds.join(', ')}`, `取り除いたもの：${kinds.join('、')}`)
  const imagesNote =
    images > 0
      ? say(
          `; pixels of ${plural(images, 'image')} not examined`,
          `。画像 ${formatCount(images)} 件の画素は調べていません`,
        )
      : ''
  return `${summary}${imagesNote}\n`
}
