/** `/permissions`: what runs without asking; `/plan`: read-only until the plan is approved. */
import { composePhrase, phrase } from '../../model/phrase.ts'
import { errorText } from '../events.ts'
import { ruleLabel } from '../tools/permission/rules.ts'
import { type ChatCommandDefinition, outputEvent, outputText, usageError } from './command.ts'

export const permissionsCommand: ChatCommandDefinition = {
  name: 'permissions',
  args: '[remove <number> | clear]',
  help: phrase(
    'list what runs without asking: command prefixes, directories, tools; remove them',
    '確認なしに実行するコマンド・ディレクトリー・ツールの一覧と取り消し',
  ),
  words: ['remove', 'clear'],
  async *run({ setup }, words) {
    const rules = setup.userRules()
    if (words.first === 'clear') {
      for (const { rule } of rules) setup.revoke(rule)
      setup.trustAll(false)
      return yield outputText(
        'Everything that may change something asks again.',
        '変更を伴う操作は、すべてまた確認します。',
      )
    }
    if (words.first === 'remove') {
      const found = rules[Number(words.rest.first) - 1]
      if (!found)
        return yield errorText(
          'No such rule. Type /permissions for the numbers.',
          'その番号のルールはありません。/permissions で番号を見られます。',
        )
      setup.revoke(found.rule)
      const { en, ja } = ruleLabel(found.rule)
      return yield outputText(`Asks again: ${en}.`, `また確認します：${ja}`)
    }
    if (words.first !== '') return yield usageError(permissionsCommand)
    const { all, patterns, tools } = setup.trusted
    yield outputEvent(
      composePhrase((say) => {
        const rows = rules.map(({ rule, isAlways }, at) => {
          const { en, ja } = ruleLabel(rule)
          const scope = isAlways ? say('always here', 'ここでは常に') : say('this chat', 'このチャット')
          return `${String(at + 1).padStart(2)}  ${scope}  ${say(en, ja)}`
        })
        const names = [...patterns, ...tools.map(({ hostName }) => hostName)]
        return [
          ...(setup.isPlanning
            ? [say('Plan mode: nothing is changed until /plan go.', '計画モード：/plan go まで何も変更しません。')]
            : []),
          ...(rows.length === 0 ? [say('No rules.', 'ルールはありません。')] : rows),
          ...(all ? [say('All tools are trusted.', 'すべてのツールを確認なしに実行します。')] : []),
          ...(names.length > 0
            ? [say(`Trusted tools: ${names.join(', ')}`, `確認なしのツール：${names.join('、')}`)]
            : []),
          rows.length === 0
            ? say('Add one with s or a when a tool asks.', 'ツールの確認のときに s か a で追加できます。')
            : say(
                'To be asked again: /permissions remove <number>, or /permissions clear.',
                'また確認するには /permissions remove <番号>、または /permissions clear。',
              ),
        ].join('\n')
      }),
    )
  },
}

const APPROVED = 'The plan is approved. Carry it out now.'

export const planCommand: ChatCommandDefinition = {
  name: 'plan',
  args: '[go | off]',
  help: phrase(
    'plan mode: tools only read until you approve the plan with /plan go',
    '計画モード。/plan go で承認するまで、ツールは読み取りだけ',
  ),
  words: ['go', 'off'],
  async *run(session, { first }, signal) {
    const { setup } = session
    if (first === '') {
      setup.isPlanning = true
      return yield outputText(
        'Plan mode: tools only read. Approve the plan with /plan go, or leave with /plan off.',
        '計画モードです。ツールは読み取りだけ行います。/plan go で承認、/plan off で終了します。',
      )
    }
    if (first !== 'go' && first !== 'off') return yield usageError(planCommand)
    if (!setup.isPlanning)
      return yield errorText('Plan mode is not on. Type /plan.', '計画モードではありません。/plan で始められます。')
    setup.isPlanning = false
    if (first === 'off') return yield outputText('Plan mode is off.', '計画モードを終了しました。')
    yield* session.sendWithin(APPROVED, signal, true)
  },
}
