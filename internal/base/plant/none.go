//go:build !plant_votes_twice && !plant_forgets_carried && !plant_refunds_twice && !plant_loses_last_write && !plant_map_order && !plant_no_turns && !plant_refuser_drawn && !plant_anyones_vote && !plant_anyones_certificate && !plant_one_vote_less && !plant_members_stay && !plant_sends_before_log && !plant_tip_before_state && !plant_same_nonce && !plant_tips_before && !plant_price_of_today

package plant

// Planted is the fault of this build.
const Planted = None
