/** `fumi token`: what scripts send to the API. */
import type { Command } from 'commander'
import { readToken, rotateToken } from '../../../server/guard/token.ts'
import { openHouse } from '../../house.ts'
import { writeOut } from '../../output.ts'

interface Options {
  readonly rotate?: boolean
}

export function tokenCommand(program: Command): void {
  program
    .command('token')
    .summary('print the token that scripts send to the API')
    .option('--rotate', 'make a new one; the old one and every open browser are locked out')
    .addHelpText(
      'after',
      '\nExamples:\n  curl -H "Authorization: Bearer $(fumi token)" http://localhost:4680/api/sessions\n  fumi token --rotate',
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
