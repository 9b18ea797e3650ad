/** `fumi token`: what scripts send to the API. */
import type { Command } from 'commander'
import { readToken, rotateToken } from '../../../server/guard/token.ts'
import { openHouse } from '../../house.ts'
import { say } from '../../language.ts'
import { writeOut } from '../../output.ts'
import { examples } from '../../run/examples.ts'

interface Options {
  readonly rotate?: boolean
}

export function tokenCommand(program: Command): void {
  program
    .command('token')
    .summary(say('print the token that scripts send to the API', 'スクリプトが API に送るトークンを表示'))
    .option(
      '--rotate',
      say(
        'make a new one; the old one and every open browser are locked out',
        '新しく作り直す。古いトークンと開いているブラウザーは使えなくなる',
      ),
    )
    .addHelpText(
      'after',
      examples(
        'curl -H "Authorization: Bearer $(fumi token)" http://localhost:4680/api/sessions',
        'fumi token --rotate',
      ),
    )
    .action(run)
}

async function run({ rotate }: Options): Promise<void> {
  const house = await openHouse()
  try {
    await writeOut(`${rotate ? rotateToken(house.directory) : readToken(house.directory)}\n`)
  } finally {
    house.close()
  }
}
