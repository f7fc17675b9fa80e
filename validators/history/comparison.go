package history

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// once lists the buckets of jobs and of lanes, presence among these, in which a row is
// written once. jobStands lists buckets in which it is written again: as a job
// proceeds, or if a runner is drawn for a job twice.
var (
	once = []env.Bucket{bucketJobs, bucketJobOrder, bucketSubmitterJobs, bucketJobNotes, bucketJobResults, bucketJobDraws, bucketJobMarks,
		bucketLanes, bucketLaneTimers, bucketLaneMoves, bucketEvents}
	jobStands = []env.Bucket{bucketJobStandings, bucketStatusJobs, bucketRunnerJobs}
)

// Comparison compares an archive's records of jobs, presence and the timer lane with the
// result of executing the chain, block by block. The archive must have all blocks.
type Comparison struct {
	archive *Archive
	rows    map[env.Bucket]int // that there have to be, of those written once
	stands  map[string]stand   // the rows that change, by bucket and key, as the last block left them
}

// stand is a row of a job that changes; a row without a value was deleted.
type stand struct {
	row env.Write
	job types.Hash
}

// Compare begins at genesis.
func (a *Archive) Compare() *Comparison {
	return &Comparison{archive: a, rows: map[env.Bucket]int{}, stands: map[string]stand{}}
}

// Block says what the block of a result wrote of all that, and is not kept as it wrote
// it.
func (c *Comparison) Block(result *ledger.Result) (what []string, err error) {
	var want writes
	want.writeJobs(result)
	want.writeLane(result)
	for _, row := range want {
		job := jobOf(row)
		if slices.Contains(jobStands, row.Bucket) {
			if row.Value == nil {
				job = c.stands[string(row.Bucket)+string(row.Key)].job
			}
			c.stands[string(row.Bucket)+string(row.Key)] = stand{row, job}
			continue
		}
		c.rows[row.Bucket]++
		got, err := c.archive.store.Get(row.Bucket, row.Key)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(got, row.Value) {
			what = append(what, differenceIn(row.Bucket, job))
		}
	}
	return what, nil
}

// End says what is not kept as the last block left it, and what no block wrote.
func (c *Comparison) End() (what []string, err error) {
	count := map[env.Bucket]int{}
	for _, s := range c.stands { // order: sorted below
		got, err := c.archive.store.Get(s.row.Bucket, s.row.Key)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(got, s.row.Value) {
			what = append(what, differenceIn(s.row.Bucket, s.job))
		}
		if s.row.Value != nil {
			count[s.row.Bucket]++
		}
	}
	slices.Sort(what)
	for _, bucket := range once {
		count[bucket] = c.rows[bucket]
	}
	for _, bucket := range slices.Concat(once, jobStands) {
		kept := 0
		err := c.archive.store.Scan(bucket, nil, nil, false, func([]byte, []byte) bool { kept++; return true })
		if err != nil {
			return nil, err
		}
		if kept != count[bucket] {
			what = append(what, fmt.Sprintf("%d rows of %s, where executing gives %d", kept, bucket, count[bucket]))
		}
	}
	return what, nil
}

// jobOf returns the job of a row; zero if the row belongs to a block, or was
// deleted.
func jobOf(row env.Write) (job types.Hash) {
	switch row.Bucket {
	case bucketJobs, bucketJobNotes, bucketJobResults, bucketJobDraws, bucketJobStandings:
		copy(job[:], row.Key)
	case bucketJobOrder, bucketSubmitterJobs, bucketRunnerJobs, bucketStatusJobs:
		copy(job[:], row.Value)
	}
	return job
}

func differenceIn(bucket env.Bucket, job types.Hash) string {
	if job.IsZero() {
		return fmt.Sprintf("the block's row of %s", bucket)
	}
	return fmt.Sprintf("the row of job %s in %s", job, bucket)
}
