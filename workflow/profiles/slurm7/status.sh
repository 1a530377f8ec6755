#!/usr/bin/env bash
# What became of a Slurm job, in Snakemake's words: running, success or failed.
# The controller is asked first, which works without accounting; it forgets a job some minutes after its end.

answer=$(scontrol --oneliner show job "$1" 2>&1)
case $answer in
    *JobState=*) state=${answer#*JobState=} ;;
    *"Invalid job id"*) state=$(sacct --noheader --parsable2 --allocations --format=State --jobs "$1" 2>/dev/null) ;;
    *) state=UNREACHABLE ;;
esac

case ${state%%[ +]*} in
    COMPLETED) echo success ;;
    # A controller that does not answer knows nothing of the job: ask again later.
    PENDING | CONFIGURING | RUNNING | COMPLETING | STAGE_OUT | SUSPENDED | STOPPED | REQUEUED | REQUEUE_HOLD | REQUEUE_FED | \
        RESIZING | SIGNALING | SPECIAL_EXIT | UNREACHABLE) echo running ;;
    *) echo failed ;;
esac
