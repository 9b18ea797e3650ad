/** `fumi team export`: a copy of what this person may read in a folder, for a company's lake. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomically } from '../../lib/files/atomic-file.ts'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { isFile } from '../../lib/files/safe-fs.ts'
import { fieldsOf, numberOf, parseStructure, stringOf } from '../../lib/unknown-values.ts'
import { AppError } from '../../model/error.ts'
import type { ExportedSession } from '../../team/protocol.ts'
import { say } from '../language.ts'
import { writeOut, writeOutJson } from '../output.ts'
import { plural } from '../view/table.ts'
import { readTeamLog } from './people.ts'
import { connectTeam, type TeamAction } from './team-options.ts'

/**
 * `sessions.jsonl` has one line for each session, with its tokens; `messages/` one log for each session whose text is
 * shared. The next run writes only what changed, and removes what was withdrawn.
 */
export const exportTeam: TeamAction = async (app, [folder], { json }) => {
  if (folder === undefined)
    throw new AppError(
      'bad_usage',
      'Name a folder: fumi team export <folder>',
      'フォルダーを指定してください: fumi team export <フォルダー>',
    )
  const client = connectTeam(app)
  const sessions: ExportedSession[] = []
  for (let after = ''; ; ) {
    const page: readonly ExportedSession[] = await client.get(`/export?after=${after}`)
    sessions.push(...page)
    const last = page.at(-1)
    if (!last) break
    after = last.session.slice('team:'.length)
  }
  const list = join(folder, 'sessions.jsonl')
  const logs = join(folder, 'messages')
  mkdirSync(logs, { recursive: true, mode: 0o700 })
  const known = readRevisions(list)
  const names = new Set<string>()
  let written = 0
  for (const { session, shared, revision } of sessions) {
    if (shared === 'usage') continue
    const name = `${session.replace(':', '-')}.ndjson`
    names.add(name)
    if (known.get(session) === revision && isFile(join(logs, name))) continue
    const lines = await readTeamLog(client, session, 'export')
    writeFileAtomically(
      join(logs, name),
      lines.map((line) => `${line}\n`),
    )
    written++
  }
  const gone = readdirSync(logs).filter((name) => /^team-[\da-f]{16}\.ndjson$/.test(name) && !names.has(name))
  for (const name of gone) rmSync(join(logs, name))
  // Last: what was interrupted is written again.
  writeFileAtomically(
    list,
    sessions.map((one) => `${JSON.stringify(one)}\n`),
  )
  if (json) return writeOutJson({ sessions: sessions.length, written, removed: gone.length })
  await writeOut(
    say(
      `${plural(sessions.length, 'session')} in ${folder}: ${written} written, ${gone.length} removed.\n`,
      `${folder} に会話 ${sessions.length} 件（書き込み ${written} 件、削除 ${gone.length} 件）\n`,
    ),
  )
}

function readRevisions(path: string): ReadonlyMap<string, number> {
  const revisions = new Map<string, number>()
  if (!isFile(path)) return revisions
  for (const line of readRegularFile(path).toString().split('\n')) {
    if (line === '') continue
    const fields = fieldsOf(parseStructure(line))
    const [session, revision] = [stringOf(fields?.['session']), numberOf(fields?.['revision'])]
    if (session !== undefined && revision !== undefined) revisions.set(session, revision)
  }
  return revisions
}
