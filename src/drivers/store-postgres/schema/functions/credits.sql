-- What accounts may spend; see CreditStore. The row of an account is shared by all its jobs. It is locked after jobs and hosts,
-- and only when a claim needs more than its job holds, when a job ends, and for grants: a commit takes what it costs from what
-- its jobs hold, whose rows it has locked anyway.

-- monthOf in src/core/model/credits.ts.
CREATE FUNCTION month_of(p_now bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
  SELECT (extract(year FROM t) * 12 + extract(month FROM t) - 1)::bigint
  FROM (SELECT to_timestamp(p_now / 1000.0) AT TIME ZONE 'UTC' AS t) utc
$$;

CREATE FUNCTION add_credit_entry(p_account text, p_kind text, p_amount bigint, p_reason text, p_now bigint)
RETURNS void
LANGUAGE sql AS $$
  INSERT INTO credit_entries (id, account_id, at, kind, microcredits, reason)
  SELECT gen_random_uuid()::text, p_account, p_now, p_kind, p_amount, p_reason WHERE p_amount <> 0
$$;

-- Records that the account has fallen below its threshold; with p_is_lifted also that it is above it again.
CREATE FUNCTION note_low(p_account text, p_now bigint, p_is_lifted boolean) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  account credits;
BEGIN
  UPDATE credits SET is_low = NOT is_low
  WHERE account_id = p_account AND is_low <> (is_limited AND allowance + balance < low) AND (NOT is_low OR p_is_lifted)
  RETURNING * INTO account;
  IF NOT FOUND OR NOT account.is_low THEN RETURN; END IF;
  PERFORM write_event('account.low_credits', p_account, NULL, p_now, jsonb_build_object(
    'availableCredits', trim_scale((account.allowance + account.balance) / 1000000::numeric),
    'thresholdCredits', trim_scale(account.low / 1000000::numeric)
  ));
END
$$;

-- Locks the account's row and renews it when its month is over.
CREATE FUNCTION lock_credits(p_account text, p_now bigint) RETURNS credits
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  account credits;
  this_month bigint := month_of(p_now);
BEGIN
  SELECT * INTO account FROM credits WHERE account_id = p_account FOR NO KEY UPDATE;
  IF account.account_id IS NULL OR NOT account.is_limited OR this_month <= account.month THEN RETURN account; END IF;
  PERFORM add_credit_entry(p_account, 'lapse', -account.allowance, 'The month is over.', p_now);
  PERFORM add_credit_entry(p_account, 'allowance', account.monthly, 'The allowance of the month.', p_now);
  UPDATE credits SET month = this_month, allowance = monthly WHERE account_id = p_account RETURNING * INTO account;
  PERFORM note_low(p_account, p_now, true);
  RETURN account;
END
$$;

-- What is held for a job, without an allowance whose month is over: that part lapses here.
CREATE FUNCTION current_hold(p_job bigint, p_account text, p_month bigint, p_now bigint) RETURNS credit_holds
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  held credit_holds;
BEGIN
  SELECT * INTO held FROM credit_holds WHERE job_seq = p_job FOR NO KEY UPDATE;
  IF held.job_seq IS NULL THEN
    held.job_seq := p_job;
    held.account_id := p_account;
    held.month := p_month;
    held.allowance := 0;
    held.balance := 0;
  ELSIF held.month < p_month THEN
    PERFORM add_credit_entry(held.account_id, 'lapse', -held.allowance, 'The month is over.', p_now);
    UPDATE credit_holds SET month = p_month, allowance = 0 WHERE job_seq = p_job RETURNING * INTO held;
  END IF;
  RETURN held;
END
$$;

CREATE FUNCTION put_hold(p_hold credit_holds) RETURNS void
LANGUAGE sql AS $$
  INSERT INTO credit_holds (job_seq, account_id, month, allowance, balance)
  VALUES (p_hold.job_seq, p_hold.account_id, p_hold.month, p_hold.allowance, p_hold.balance)
  ON CONFLICT (job_seq) DO UPDATE
  SET month = excluded.month, allowance = excluded.allowance, balance = excluded.balance
$$;

-- Holds credits for p_claims tasks of the job, or for as many as the account can pay for. Returns that number. With
-- p_is_alone a little more is held, because no other job of the claim needs it.
CREATE FUNCTION hold_credits(
  p_job bigint, p_account text, p_claims bigint, p_reserve bigint, p_is_alone boolean, p_now bigint
) RETURNS bigint
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  this_month bigint := month_of(p_now);
  held credit_holds := current_hold(p_job, p_account, this_month, p_now);
  account credits;
  free bigint;
  payable bigint := p_claims;
  wanted bigint;
  taken bigint;
BEGIN
  IF held.allowance + held.balance >= p_claims * p_reserve THEN RETURN p_claims; END IF;
  account := lock_credits(p_account, p_now);
  free := account.allowance + account.balance;
  IF held.allowance + held.balance + free < p_claims * p_reserve THEN
    payable := greatest(0, floor((held.allowance + held.balance + free)::numeric / p_reserve))::bigint;
  END IF;
  wanted := payable * p_reserve - held.allowance - held.balance;
  IF wanted <= 0 THEN RETURN payable; END IF;
  IF p_is_alone THEN
    wanted := wanted + greatest(0, least(32 * p_reserve, (free - wanted) / 64));
  END IF;
  taken := least(wanted, greatest(0, account.allowance));
  held.allowance := held.allowance + taken;
  held.balance := held.balance + wanted - taken;
  PERFORM put_hold(held);
  UPDATE credits SET allowance = allowance - taken, balance = balance - (wanted - taken)
  WHERE account_id = p_account;
  PERFORM note_low(p_account, p_now, false);
  RETURN payable;
END
$$;

-- Takes what a commit costs from what is held, the part of the allowance first. A refund goes to the balance.
CREATE FUNCTION charge_hold(p_job bigint, p_account text, p_amount bigint, p_now bigint) RETURNS void
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  held credit_holds := current_hold(p_job, p_account, month_of(p_now), p_now);
  taken bigint := least(greatest(0, p_amount), held.allowance);
BEGIN
  held.allowance := held.allowance - taken;
  held.balance := held.balance - (p_amount - taken);
  PERFORM put_hold(held);
END
$$;

-- Gives what is still held for a job back to its account.
CREATE FUNCTION return_hold(p_job bigint, p_now bigint) RETURNS void
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  held credit_holds;
  account credits;
BEGIN
  DELETE FROM credit_holds WHERE job_seq = p_job RETURNING * INTO held;
  IF held.job_seq IS NULL THEN RETURN; END IF;
  account := lock_credits(held.account_id, p_now);
  IF held.month < account.month THEN
    PERFORM add_credit_entry(held.account_id, 'lapse', -held.allowance, 'The month is over.', p_now);
    held.allowance := 0;
  END IF;
  UPDATE credits SET allowance = allowance + held.allowance, balance = balance + held.balance
  WHERE account_id = held.account_id;
END
$$;

CREATE FUNCTION return_hold_of_ended() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM return_hold(NEW.seq, NEW.finished_at);
  RETURN NULL;
END
$$;

CREATE TRIGGER jobs_return_hold AFTER UPDATE OF finished_at ON jobs FOR EACH ROW
WHEN (OLD.finished_at IS NULL AND NEW.finished_at IS NOT NULL) EXECUTE FUNCTION return_hold_of_ended();

-- Raises SC402 when the account cannot pay for one task of a new job; the detail has what it has, and what it needs.
CREATE FUNCTION require_credits(p_account text, p_reserve bigint, p_now bigint) RETURNS void
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  account credits;
BEGIN
  IF p_reserve = 0 OR NOT EXISTS (SELECT FROM credits c WHERE c.account_id = p_account AND c.is_limited) THEN
    RETURN;
  END IF;
  account := lock_credits(p_account, p_now);
  IF account.allowance + account.balance < p_reserve THEN
    RAISE EXCEPTION USING ERRCODE = 'SC402', MESSAGE = 'credits exhausted',
      DETAIL = json_build_array(account.allowance + account.balance, p_reserve)::text;
  END IF;
END
$$;
