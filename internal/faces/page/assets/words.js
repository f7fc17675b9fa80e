// @ts-check
// What words of the page mean: of the chain, of views that failed, of timers that wait, of jobs that failed, and of lies.

/** @type {{[word: string]: string}} */
const MEANINGS = {
  view: 'One attempt to decide a block, with one leader. A view that fails is nullified, and the next has another leader.',
  leader: 'The validator that proposes the block of a view.',
  'to notarize': 'A vote for the block of a view. A quorum of them notarizes it.',
  'to finalize': 'A vote for a notarized block. A quorum of them makes it final, and it is never reverted.',
  'to nullify': 'A vote to give the view up. A quorum of them ends it without a block.',
  silent: 'No vote of it was seen in this view.',
  cycles: 'Units of computing.',
  cells: 'Bytes that were brought or are kept.',
  'base fee': 'The price in force. It is burned.',
  tier: 'The part of the calendar that holds the timer: ring, epoch, overflow, or carry.',
  ring: 'The tier of timers that are due in the next blocks.',
  overflow: 'The tier of timers that are due far away.',
  carry: 'The tier of timers that are past their height and wait for room.',
  deferred: 'Blocks in which it was due and did not end.',
  lane: 'The part of a block that is for timers, with its own budget and base fee.',
  agent: 'A gas bidding agent: an actor that prices a timer.',
  present: 'Enough votes of the height show the runner as connected.',
  subset: 'The validators that the runner connects to.',
  committee: 'The runners that were drawn for a job.',
  draws: 'How often runners were drawn for the job.',
  committed: 'The height at which the hash of its result came.',
  revealed: 'The height at which its result came.',
  deadline: 'The last height that takes results.',
};

/**
 * Causes of views that were given up.
 * @type {{[cause: string]: string}}
 */
export const CAUSES = {
  proposal_rejected: 'the proposal failed a check',
  not_built: 'the leader could not make a block that may be proposed',
  leader_gave_up: 'the leader gave its own view up',
  leader_behind: 'the leader was too far behind to build a block',
  leader_unheard: 'nothing had come from the leader for four views, so nobody waited for it',
  no_proposal: "the leader's proposal did not come in time",
  build_overdue: 'the leader did not finish its block in time',
  parent_missing: 'a block before the proposed one was missing',
  execution_overdue: 'the proposal was not executed in time',
  too_few_votes: 'too few validators voted for the proposal in time',
};

/**
 * Reasons of timers that wait or ended.
 * @type {{[reason: string]: string}}
 */
export const REASONS = {
  lane_full: 'timers before it took the rest of the lane',
  block_cells_full: 'what it may store does not fit into the rest of the block',
  over_cycle_cap: 'its limit of cycles is above the cap of a fire',
  below_lane_basefee: "its max fee is below the lane's base fee",
  below_basefee_cycle: 'its max fee is below the base fee of a cycle',
  block_fires: 'the block has all the fires that it may have',
  below_reserve: 'its bid is below a reserve price',
  actor_fires: 'its actor has all the fires that it may have in a block',
  gc_lane_full: 'it is over, and its block had no room to remove it',
  host_failed: "the proposer's host of programs failed on it, and another proposer tries",
  not_begun: "the machine was late: the proposer's time was over before its turn",
  expired: 'its last height passed before its turn',
  insufficient_funds: 'its payer cannot pay',
};

/**
 * The parameters behind some of them.
 * @type {{[reason: string]: string}}
 */
export const PARAMETERS = { lane_full: 'cip1.lane_timer_cycles', over_cycle_cap: 'cip1.max_cycles_per_fire_auction_phase', below_lane_basefee: 'cip1.lane_basefee_change_divisor' };

/**
 * Errors of jobs.
 * @type {{[code: string]: string}}
 */
export const FAILURES = {
  timeout: 'too few runners gave a result until the deadline',
  no_candidates: 'no runner could be drawn',
  refused: 'the runners that were drawn refused it',
  disagreement: 'the results of the runners differ',
  invalid_results: 'too few of the results count',
  cancelled: 'its submitter cancelled it',
};

/**
 * What a node does that misbehaves.
 * @type {{[kind: string]: string}}
 */
export const LIE_MEANINGS = {
  equivocate: 'It proposes two blocks in its views, and casts two votes in every view.',
  withhold_votes: 'It leads, and votes for nothing.',
  silent_leader: 'It votes, and proposes nothing.',
  bad_state_root: 'Its blocks claim another state than theirs.',
  tamper_body: 'Its blocks hold other transactions than their headers say.',
  withhold_body: 'Some of the others get no block from it.',
  impersonate: 'It votes and proposes in the names of others.',
  passes_over: 'Its blocks claim that its host failed on every program.',
  forge: 'Its answers, certificates and transactions are made up.',
  flood: 'It sends many invalid and stale frames.',
  fabricate_presence: 'It votes that every runner is present.',
  suppress_presence: 'It votes that no runner is present.',
  misshape_presence: 'Its votes carry bytes that are no bitmap.',
  choose_votes: 'It overlooks votes that show a runner.',
  false_commit: 'It commits runners to results that they do not have.',
  false_cancel: 'It cancels each job that it pushes.',
  withhold_result: "It holds runners' results back.",
  double_assign: 'It signs another specification of the job for half of the runners.',
  wrong_result: "It signs another result than its executor's.",
  late_result: 'It gives its result when the assignment is over.',
  duplicate_result: 'It gives each result twice.',
  no_reveal: 'It works, and gives no result.',
  bad_signature: 'Its results have an invalid signature.',
  replay_nonce: 'It sends each ping twice.',
  reject: 'It rejects every job.',
};

/**
 * findMeaning returns '' where a word has none.
 * @param {string} word
 */
export function findMeaning(word) {
  const code = word.replaceAll(' ', '_');
  return MEANINGS[word] || CAUSES[code] || REASONS[code] || '';
}
