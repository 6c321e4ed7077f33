"""Operations shared out over ranks."""
