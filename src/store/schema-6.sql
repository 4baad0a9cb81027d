-- Schema 6 of boatload's store: whether ext4 keeps a journal.

ALTER TABLE hosts ADD COLUMN
  filesystem_journal INTEGER /* ext2, ext3 and ext4: 1 with a journal, 0 without; NULL for others, or if unknown */;
