/** A session of the team as a log on this machine, to continue it here. Its owner sees in the audit who took it over. */
import { join } from 'node:path'
import type { App } from '../../app.ts'
import { writeFileAtomically } from '../../lib/files/atomic-file.ts'
import { createTempFolder } from '../../lib/files/temp-files.ts'
import { AppError } from '../../model/error.ts'
import { SESSION_ID } from '../../team/protocol.ts'
import { readTeamLog } from './people.ts'
import { connectTeam } from './team-options.ts'

/** @returns the path of a file that is removed when the process ends */
export async function fetchTeamSession(app: App, id: string): Promise<string> {
  if (!SESSION_ID.test(id))
    throw new AppError(
      'bad_usage',
      `${id} is no session of a team. The page shows its id: team: and 16 characters.`,
      `${id} はチームの会話 ID ではありません。ID はページに表示されます（team: と 16 文字）。`,
    )
  const lines = await readTeamLog(connectTeam(app), id)
  const path = join(createTempFolder('team').path, `${id.replace(':', '-')}.ndjson`)
  writeFileAtomically(
    path,
    lines.map((line) => `${line}\n`),
  )
  return path
}
