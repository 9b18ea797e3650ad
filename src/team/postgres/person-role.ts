/** The role under which everything runs that a person asks for. It owns nothing, so every policy applies to it. */
export const PERSON_ROLE = 'fumi_team_person'
